/** `holdfast serve`: runs the service until a signal stops it or its store fails. */
import { configOf, type Environment, type Flags, type OnListening } from "./options.ts";
import { createLog } from "./serve/log.ts";
import { createShutdown, isTerminal, serveUntilShutdown, watchParent } from "./serve/serving.ts";

/** Serves until the process ends. Throws StartError if the service cannot start. */
export async function runServe(flags: Flags, env: Environment, onListening?: OnListening): Promise<void> {
  const config = await configOf(flags, env, { reportsFiles: true });
  const output = await createLog(isTerminal);
  const shutdown = createShutdown(config.stopTimeoutMs);
  let stopsWithParent = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => {
      // The signal that ended the script can arrive after its end. It is the first signal, so it must not end the service at once.
      if (stopsWithParent) stopsWithParent = false;
      else shutdown.request(0);
    });
  if (env.npm_lifecycle_event !== undefined) {
    watchParent(() => {
      if (shutdown.isRequested()) return; // one signal can end both the script and the service
      stopsWithParent = true;
      output.log.info("the npm script that started the service has ended, so the service stops");
      shutdown.request(0);
    });
  }
  await serveUntilShutdown(config, { shutdown, output, sources: { flags, env }, onListening });
}
