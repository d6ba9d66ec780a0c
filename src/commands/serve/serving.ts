/** A service from its start until the process ends. */
import { flushCompileCache } from "node:module";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { type RunningServer, startServer } from "../../server.ts";
import { banner } from "./banner.ts";

/** The end of the process. */
export interface End {
  /** Asks for an orderly end, with this exit code. A second call ends the process at once, with exit code 1. */
  request(exitCode: number): void;
  requested: Promise<number>;
  isRequested(): boolean;
}

/** What a service is run with. */
export interface ServingOptions {
  end: End;
  log: Logger;
  /** Gets the base address of the collections, before a person reads it. */
  onListening?: ((base: string) => void | Promise<void>) | undefined;
}

/**
 * Starts the service, says where it listens, and stops it when the end is requested; then the process ends. Throws
 * StartError when it cannot start.
 */
export async function serveUntilEnd(config: Config, options: ServingOptions): Promise<never> {
  const { end, log, onListening } = options;
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
  await onListening?.(`${server.origin}${config.http.prefix}`);
  process.stdout.write(banner(config, server.origin));
  flushCompileCache(); // a service that is killed has not written it at its end
  const exitCode = await end.requested;
  await server.stop();
  process.exit(exitCode);
}

/** Whether a person reads the log. */
export const isTerminal = process.stderr.isTTY === true;

/** The signal that tells of a renewed certificate may come while the service is still starting. */
function reloadOnHangup(starting: Promise<RunningServer>): void {
  process.on("SIGHUP", () => {
    starting.then(
      ({ reloadTls }) => reloadTls(),
      () => {}, // the caller that waits for the start gets the error
    );
  });
}

/**
 * The end of the process. The first request for it, which may come while the service is still starting, is for
 * an orderly one. A second one, or the deadline, does not wait any longer: what was acknowledged is on the disk.
 */
export function createEnd(timeoutMs: number): End {
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
