/** The composition root: opens the store, builds the service, listens, drains, closes. */
import type { AddressInfo, Server } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { readFiles } from "./config/files.ts";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import type { createApp, WireBounds } from "./http/wire/app.ts";
import { type OpenService, openService, type ServiceOptions } from "./server/open-service.ts";
import { createTlsReload } from "./server/tls-reload.ts";

/** A service that answers. */
export interface RunningServer {
  /** Scheme, address and port that it listens on, such as `http://127.0.0.1:3000`. */
  origin: string;
  /** Reads certificate and key again, for the connections to come. What is wrong with them is logged, and the old ones stay. */
  reloadTls(): Promise<void>;
  /** Answers what was accepted, then lets go of port and store. */
  stop(): Promise<void>;
}

/** What the caller may bring along. */
export interface StartOptions extends ServiceOptions {
  /** Bounds of the wire that no configuration offers: for tests and measurements. */
  wireBounds?: Partial<WireBounds>;
}

/** Opens the store and listens. Throws StartError when either cannot be done. */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const { auth, http } = config;
  const files = { auth: () => auth, tls: () => http.tls };
  const keyPair = await readFiles(files, (options.now ?? Date.now)());
  // The store's thread starts while this one loads what speaks HTTP.
  const [opened, { createApp }] = await Promise.all([
    openService(config, options),
    import("./http/wire/app.ts"),
  ]);
  const { service } = opened;
  const { tls } = http;
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
  await acceptWaiting(app.server);
  await app.close();
  await opened.close();
}

/** Turns of the event loop in which a service that stops still accepts, if connections keep coming. */
const maxAcceptingTurns = 1_000;

/** Accepts what the kernel has queued: it resets the connections that are in the queue when the listener closes. */
async function acceptWaiting(server: Server): Promise<void> {
  let isQuiet = false;
  const onConnection = () => {
    isQuiet = false;
  };
  server.on("connection", onConnection);
  for (let turn = 0; turn < maxAcceptingTurns && !isQuiet; turn++) {
    isQuiet = true;
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
