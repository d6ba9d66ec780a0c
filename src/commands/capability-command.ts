/** What the program gives to the commands of capabilities. */
import type { CapabilityName } from "../capabilities/all.ts";
import type { CommandLine } from "../command.ts";
import type { Config } from "../config.ts";
import { StartError } from "../errors.ts";
import { openService } from "../server/open-service.ts";
import { openReader, requireStore } from "../store/open.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { warnOfUnknownRoles } from "./keys-command.ts";
import { callService, runningOf, withUrlAdvice } from "./running-service.ts";
import { print, say } from "./shell.ts";

/** What a command of this capability gets. Throws StartError if flags contradict each other. */
export function commandLine(
  capability: CapabilityName,
  flags: Flags,
  env: Environment,
): CommandLine<never, never> {
  const running = runningOf(flags, env);
  let reading: Promise<Config> | undefined;
  const configuration = () => {
    reading ??= configOf(flags, env);
    return reading;
  };
  return {
    flags,
    print,
    say,
    call: running && ((call, what) => callService(running, call, what)),
    settings: async () => (await configuration())[capability] as never,
    warnOfUnknownRoles: async (roles) => warnOfUnknownRoles(roles, await configuration()),
    withReader: async (work) => {
      const { store } = await configuration();
      requireStore(store);
      return withOpen(openReader(store), work);
    },
    withOpened: async (work, { creates = false } = {}) => {
      const config = await configuration();
      if (!creates) requireStore(config.store);
      try {
        const opening = openService(config, { delivers: false });
        return await withOpen(opening, async ({ service, capabilities }) => {
          if (!service.hasStarted()) throw new StartError("The store cannot be reached now.");
          return work(capabilities[capability] as never);
        });
      } catch (error) {
        throw withUrlAdvice(error);
      }
    },
  };
}
