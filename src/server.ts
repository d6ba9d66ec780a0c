/** Starts the service with its listener, and stops it gracefully. */
import type { AddressInfo, Server } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { readFilesOf } from "./config/files.ts";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import type { createApp, WireBounds } from "./http/wire/app.ts";
import { type OpenService, openService, type ServiceOptions } from "./server/open-service.ts";
import { createTlsReload } from "./server/tls-reload.ts";

/** A service that listens. */
export interface RunningServer {
  /** Its scheme, address and port, such as `http://127.0.0.1:3000`. */
  origin: string;
  /** Reads the certificate and its key again, for new connections. If they have faults, logs them and keeps the old ones. */
  reloadTls(): Promise<void>;
  /** Responds to all accepted requests, then closes the listener and the store. */
  stop(): Promise<void>;
}

/** What a program or test can provide. */
export interface StartOptions extends ServiceOptions {
  /** Limits of the HTTP server for tests and measurements. */
  wireBounds?: Partial<WireBounds>;
}

/** Opens the store and listens. Throws StartError if one of the two fails. */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const keyPair = await readFilesOf(config, (options.now ?? Date.now)());
  // The thread of the store starts while this thread loads the HTTP server.
  const [opened, { createApp }] = await Promise.all([
    openService(config, options),
    import("./http/wire/app.ts"),
  ]);
  const { service } = opened;
  const { tls } = config.http;
  try {
    const app = createApp(service, {
      logRequests: config.logRequests,
      tls: keyPair,
      bounds: options.wireBounds,
    });
    await listen(app, config);
    return {
      origin: originOf(app.server.address() as AddressInfo, tls !== undefined),
      reloadTls: tls === undefined ? async () => {} : createTlsReload(app.server, tls, service),
      stop: () => stop(app, opened, config.drainDelayMs),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type App = ReturnType<typeof createApp>;

async function listen(app: App, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, host, port);
  }
}

async function stop(app: App, opened: OpenService, drainDelayMs: number): Promise<void> {
  opened.drain();
  await sleep(drainDelayMs);
  opened.endStreams();
  await acceptQueued(app.server);
  await app.close();
  await opened.close();
}

/** A service that stops accepts new connections for at most this many turns of the event loop. */
const maxAcceptingTurns = 1_000;

/** Accepts the connections in the queue of the kernel. The kernel resets those that are there when the listener closes. */
async function acceptQueued(server: Server): Promise<void> {
  let isQueueEmpty = false;
  const onConnection = () => {
    isQueueEmpty = false;
  };
  server.on("connection", onConnection);
  for (let turn = 0; turn < maxAcceptingTurns && !isQueueEmpty; turn++) {
    isQueueEmpty = true;
    await nextTurn();
  }
  server.off("connection", onConnection);
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return new StartError(
        `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with --port.`,
      );
    case "EACCES":
      return new StartError(
        `This user has no permission to listen on port ${port}. Choose a port above 1023 with --port.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StartError(`This machine has no address ${host}. Choose another address with --host.`);
    default:
      return error;
  }
}

function originOf({ address, port, family }: AddressInfo, isEncrypted: boolean): string {
  return `${isEncrypted ? "https" : "http"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
