import { flushCompileCache } from "node:module";
import { type RunningServer, startServer } from "../../server.ts";
import { configOf, type Environment } from "../options.ts";
import { banner } from "./banner.ts";
import { createLog } from "./log.ts";
import { watchParent } from "./parent.ts";

/** Serves until a signal or a failure of the store ends the process. Throws StartError when it cannot start. */
export async function runServe(
  flags: Record<string, unknown>,
  env: Environment,
  onListening?: (base: string) => void,
): Promise<void> {
  const config = await configOf(flags, env, { reportsFiles: true });
  const isTerminal = process.stderr.isTTY === true;
  const log = await createLog(isTerminal);
  const end = createEnd(config.stopTimeoutMs);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => end.request(0));
  if (env.npm_lifecycle_event !== undefined) {
    watchParent(() => {
      if (end.isRequested()) return; // the signal that ended the script was for the service too
      log.info("the npm script that started the service has ended, and the service ends with it");
      end.request(0);
    });
  }
  const starting = startServer(
    { ...config, logRequests: config.logRequests || isTerminal },
    {
      log,
      onFailure(reason) {
        log.fatal(reason);
        end.request(1);
      },
    },
  );
  if (config.http.tls !== undefined) reloadOnHangup(starting);
  const server = await starting;
  process.stdout.write(banner(config, server.origin));
  onListening?.(`${server.origin}${config.http.prefix}`);
  flushCompileCache(); // a service that is killed has not written it at its end
  const exitCode = await end.requested;
  await server.stop();
  process.exit(exitCode);
}

/** The signal that tells of a renewed certificate may come while the service is still starting. */
function reloadOnHangup(starting: Promise<RunningServer>): void {
  process.on("SIGHUP", () => {
    starting.then(
      ({ reloadTls }) => reloadTls(),
      () => {}, // told by whoever waits for the start
    );
  });
}

interface End {
  request(exitCode: number): void;
  requested: Promise<number>;
  isRequested(): boolean;
}

/**
 * The end of the process. The first request for it, which may come while the service is still starting, is for
 * an orderly one. A second one, or the deadline, does not wait any longer: what was acknowledged is on the disk.
 */
function createEnd(timeoutMs: number): End {
  const { promise: requested, resolve } = Promise.withResolvers<number>();
  let isRequested = false;
  const request = (exitCode: number) => {
    if (isRequested) process.exit(1);
    isRequested = true;
    setTimeout(() => process.exit(1), timeoutMs);
    resolve(exitCode);
  };
  return { request, requested, isRequested: () => isRequested };
}
