/** What the program gives to the commands of capabilities. */
import type { CapabilityName } from "../capabilities/all.ts";
import type { CommandLine } from "../command.ts";
import { openService } from "../server/open-service.ts";
import { openReader, requireStore } from "../store/open.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { callService, runningOf, withUrlAdvice } from "./running-service.ts";
import { print } from "./shell.ts";

/** What a command of this capability gets. Throws StartError if flags contradict each other. */
export function commandLine(capability: CapabilityName, flags: Flags, env: Environment): CommandLine<never> {
  const running = runningOf(flags, env);
  return {
    print,
    call: running && ((call, what) => callService(running, call, what)),
    withReader: async (work) => {
      const { store } = await configOf(flags, env);
      requireStore(store);
      return withOpen(openReader(store), work);
    },
    withOpened: async (work) => {
      const config = await configOf(flags, env);
      requireStore(config.store);
      try {
        const opening = openService(config, { delivers: false });
        return await withOpen(opening, ({ capabilities }) => work(capabilities[capability] as never));
      } catch (error) {
        throw withUrlAdvice(error);
      }
    },
  };
}
