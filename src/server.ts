/** Starts the service with its listener, and stops it gracefully. */
import type { AddressInfo, Server } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { createFirstToken, FirstKey, type FirstKeyPlan } from "./access/first-key.ts";
import { readFilesOf } from "./config/files.ts";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import type { Service } from "./http/service.ts";
import type { createApp, WireBounds } from "./http/wire/app.ts";
import type { MetricsListener } from "./metrics/listener.ts";
import { type OpenService, openService, type ServiceOptions } from "./server/open-service.ts";
import { createTlsReload } from "./server/tls-reload.ts";

/** A service that listens. */
export interface RunningServer {
  /** Its scheme, address and port, such as `http://127.0.0.1:3000`. */
  origin: string;
  /** The URL of the metrics, if they have an address of their own. */
  metrics: string | undefined;
  /** Whether the store never had an API key, and the service can create one now. Throws the errors of the store. */
  needsFirstKey(): Promise<boolean>;
  /** Lets the token that it returns be exchanged for the first API key. */
  offerFirstKey(plan: FirstKeyPlan): string;
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
  let listener: MetricsListener | undefined;
  try {
    listener = await serveMetrics(config, service);
    const app = createApp(service, {
      logRequests: config.logRequests,
      tls: keyPair,
      bounds: options.wireBounds,
    });
    await listen(app, config);
    return {
      origin: originOf(app.server.address() as AddressInfo, tls !== undefined),
      metrics: listener?.url,
      needsFirstKey: () => needsFirstKey(opened),
      offerFirstKey: (plan) => offerFirstKey(opened, plan),
      reloadTls: tls === undefined ? async () => {} : createTlsReload(app.server, tls, service),
      stop: () => stop(app, opened, { drainDelayMs: config.drainDelayMs, listener }),
    };
  } catch (error) {
    await listener?.close();
    await opened.close();
    throw error;
  }
}

async function needsFirstKey({ service, store }: OpenService): Promise<boolean> {
  return !service.readOnly && service.hasStarted() && (await store.keys.all()).length === 0;
}

function offerFirstKey({ service, store }: OpenService, plan: FirstKeyPlan): string {
  const { now } = service;
  const token = createFirstToken();
  service.firstKey = new FirstKey({ keys: store.keys, plan, now, elapsed: () => performance.now() }, token);
  return token;
}

type App = ReturnType<typeof createApp>;

async function listen(app: App, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, { host, port, option: "--port" });
  }
}

/** Listens for a monitor, if the metrics have an address of their own. The listener is loaded only then. */
async function serveMetrics(
  { metrics: place }: Config,
  { metrics, log }: Service,
): Promise<MetricsListener | undefined> {
  if (place === undefined || place === "administrators" || metrics === undefined) return undefined;
  const { listenForMetrics } = await import("./metrics/listener.ts");
  return listenForMetrics(place, metrics, log).catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, { ...place, option: "--metrics" });
  });
}

async function stop(
  app: App,
  opened: OpenService,
  { drainDelayMs, listener }: { drainDelayMs: number; listener: MetricsListener | undefined },
): Promise<void> {
  opened.drain();
  await sleep(drainDelayMs);
  opened.endStreams();
  await acceptQueued(app.server);
  await listener?.close();
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

/** What to listen on, and the flag that names the port. */
interface Listening {
  host: string;
  port: number;
  option: "--port" | "--metrics";
}

function listenError(error: NodeJS.ErrnoException, { host, port, option }: Listening): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return new StartError(
        `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with ${option}.`,
      );
    case "EACCES":
      return new StartError(
        `This user has no permission to listen on port ${port}. Choose a port above 1023 with ${option}.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StartError(
        `This machine has no address ${host}. Choose another address with ${option === "--port" ? "--host" : option}.`,
      );
    default:
      return error;
  }
}

function originOf({ address, port, family }: AddressInfo, isEncrypted: boolean): string {
  return `${isEncrypted ? "https" : "http"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
