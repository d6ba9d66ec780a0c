import { configOf, type Environment } from "../options.ts";
import { createLog } from "./log.ts";
import { watchParent } from "./parent.ts";
import { createEnd, isTerminal, serveUntilEnd } from "./serving.ts";

/** Serves until a signal or a failure of the store ends the process. Throws StartError when it cannot start. */
export async function runServe(
  flags: Record<string, unknown>,
  env: Environment,
  onListening?: (base: string) => void,
): Promise<void> {
  const config = await configOf(flags, env, { reportsFiles: true });
  const log = await createLog(isTerminal);
  const end = createEnd(config.stopTimeoutMs);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => end.request(0));
  if (env.npm_lifecycle_event !== undefined) {
    watchParent(() => {
      if (end.isRequested()) return; // the signal that ended the script was for the service too
      log.info("the npm script that started the service has ended, so the service stops");
      end.request(0);
    });
  }
  await serveUntilEnd(config, { end, log, onListening });
}
