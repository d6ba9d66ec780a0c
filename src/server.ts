/** Starts the service with its listener, and stops it gracefully. */
import type { Server } from "node:http";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { FirstKeyPlan } from "./access/first-key.ts";
import type { OpenCapability } from "./capability.ts";
import { readFilesOf } from "./config/derived-settings.ts";
import { type Config, withPort } from "./config.ts";
import { StoreFull } from "./errors.ts";
import { type CountsMemory, createCounts } from "./http/admission/counts.ts";
import { startCounting } from "./http/admission/exact-counts.ts";
import type { Administration, Clock, Log } from "./http/service.ts";
import type { WireBounds } from "./http/wire/bounds.ts";
import type { KeyPair } from "./http/wire/tls.ts";
import { mostThreads } from "./readers.ts";
import {
  acceptQueued,
  canReusePort,
  createTlsReload,
  listen,
  listenError,
  originOf,
  portOf,
  requireFreePort,
  useKeyPair,
} from "./server/listener.ts";
import type { MetricsListener } from "./server/metrics-listener.ts";
import {
  announcedBy,
  methodsOf,
  type OpenService,
  openService,
  type ServiceOptions,
} from "./server/open-service.ts";
import type { Threads } from "./server/threads.ts";
import type { StoreAddress } from "./store/open.ts";

/** A service that listens. */
export interface RunningServer {
  /** Its scheme, address and port, such as `http://127.0.0.1:3000`. */
  origin: string;
  /** How many threads answer requests. */
  threads: number;
  /** Whether it refuses all writes. */
  readOnly: boolean;
  /** What capabilities say about themselves at the start, by short names. */
  announced: Readonly<Record<string, string>>;
  /** The URL of the metrics, if they have an address of their own. */
  metrics: string | undefined;
  /** Whether the store never had an API key, and the service can create one now. Throws the errors of the store. */
  needsFirstKey(): Promise<boolean>;
  /** Lets the token that it returns be exchanged for the first API key. */
  offerFirstKey(plan: FirstKeyPlan): string;
  /** The link with which the first administrator signs up; `undefined` unless a service with users has none. Throws the errors of the store. */
  offerFirstAccount(): Promise<string | undefined>;
  /** Reads the certificate and its key again, for new connections. If they have faults, logs them and keeps the old ones. */
  reloadTls(): Promise<void>;
  /** Responds to all accepted requests, then closes the listener and the store. */
  stop(): Promise<void>;
  /** What a stop still waits for, for the log. */
  unfinished(): string;
}

/** What a program or test can provide. */
export interface StartOptions extends ServiceOptions {
  /** Writes complete lines of other threads to the log. @default does nothing */
  writeLines?: (lines: readonly string[]) => void;
  /** Limits of the HTTP server for tests and measurements. */
  wireBounds?: Partial<WireBounds>;
}

/**
 * Opens the store and listens. If the disk of the store is full and the start must write, the service only reads, and logs this. Throws
 * StartError if it cannot open the store or listen.
 */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  try {
    return await startAs(config, options);
  } catch (error) {
    if (!(error instanceof StoreFull) || config.readOnly) throw error;
    const server = await startAs({ ...config, readOnly: true }, options).catch(() => {
      throw error; // it tells the reason
    });
    options.log?.warn(`${error.message} Until you start the service again, it is read-only.`);
    return server;
  }
}

async function startAs(config: Config, options: StartOptions): Promise<RunningServer> {
  const keyPair = await readFilesOf(config, (options.now ?? Date.now)());
  const onFailure = onceOnly(options.onFailure ?? (() => {}));
  const count = await countThreads(config, options.log);
  const memory = createCounts(count);
  let threads: Threads | undefined;
  // The thread of the store starts while this thread loads the HTTP server.
  const [opened, { createHttpServer, closeServer }] = await Promise.all([
    openService(config, {
      ...options,
      onFailure,
      thread: options.thread ?? {
        kind: "main",
        counting: startCounting(config.http, memory),
        othersMetrics: async () => (await threads?.metrics()) ?? [],
      },
    }),
    import("./http/wire/http-server.ts"),
  ]);
  const { service } = opened;
  const { tls } = config.http;
  const server = createHttpServer(service, {
    logRequests: config.logRequests,
    tls: keyPair,
    bounds: options.wireBounds,
  });
  const parts: Parts = { server, close: () => closeServer(server), opened };
  try {
    parts.listener = await serveMetrics(config, service);
    if (count > 1) await requireFreePort(config);
    await listen(server, config, { reusePort: count > 1 });
    service.publicUrl = withPort(config, portOf(server)).publicUrl;
    if (count > 1)
      threads = parts.threads = await startThreads(config, memory, { ...options, onFailure, keyPair, parts });
    return {
      origin: originOf(server, tls !== undefined),
      threads: count,
      readOnly: service.readOnly,
      announced: announcedBy(opened),
      metrics: parts.listener?.url,
      needsFirstKey: async () =>
        !service.readOnly && service.hasStarted() && (await opened.store.keys.all()).length === 0,
      offerFirstKey: (plan) => {
        const offer = opened.offerFirstKey(plan);
        threads?.send({ kind: "firstKey", offer });
        return offer.token;
      },
      offerFirstAccount: async () =>
        service.readOnly || !service.hasStarted() ? undefined : firstLink(opened),
      reloadTls: tls === undefined ? async () => {} : createTlsReload(tls, usePair, service),
      stop: () => stop(parts, config.drainDelayMs),
      unfinished: () => unfinished(parts),
    };
  } catch (error) {
    await parts.listener?.close();
    await closeServer(server);
    await opened.close();
    throw error;
  }

  function usePair(pair: KeyPair): void {
    useKeyPair(server, pair);
    threads?.send({ kind: "keyPair", pair });
  }
}

/** The link for the first person who administers the service; `undefined` if no capability offers one. */
async function firstLink({ capabilities }: OpenService): Promise<string | undefined> {
  for (const each of Object.values<OpenCapability>(capabilities)) {
    const link = await each.firstLink?.();
    if (link !== undefined) return link;
  }
  return undefined;
}

/** What a service that listens consists of. */
interface Parts {
  server: Server;
  /** Closes the server. */
  close(): Promise<void>;
  opened: OpenService;
  /** Absent without an address for the metrics. */
  listener?: MetricsListener | undefined;
  /** Absent if only the main thread answers requests. */
  threads?: Threads;
  /** What the stop is waiting for, for the log. Absent while the service runs. */
  stage?: string;
}

/** Each thread opens connections of its own. With more threads, one service could use all connections of a usual database. */
const mostOnPostgres = 4;

/**
 * The threads for a store on this many processors. From three processors, one of them remains for the store. A limit of
 * processors in a container (cgroup 2) counts as well.
 */
export function threadsFor(store: StoreAddress["kind"], processors = availableParallelism()): number {
  const most = store === "postgres" ? mostOnPostgres : mostThreads;
  return Math.min(most, Math.max(1, processors - 1));
}

async function countThreads({ threads, store, host }: Config, log: Log | undefined): Promise<number> {
  const count = threads === "auto" ? threadsFor(store.kind) : threads;
  if (count === 1 || (await canReusePort({ host }))) return count;
  if (threads !== "auto")
    log?.warn(
      `one thread answers requests, although threads is ${threads}: this system does not let several threads listen on one port`,
    );
  return 1;
}

/** Starts the other threads, on the port of the main thread. */
async function startThreads(
  config: Config,
  memory: CountsMemory,
  {
    parts: { server, opened },
    keyPair,
    onFailure,
    writeLines = () => {},
    wireBounds,
  }: StartOptions & { parts: Parts; keyPair: KeyPair | undefined; onFailure: (reason: string) => void },
): Promise<Threads> {
  const { Threads } = await import("./server/threads.ts");
  const { service, store, preparation } = opened;
  const data = {
    memory,
    tcpPort: portOf(server),
    logRequests: config.logRequests,
    keyPair,
    isPrepared: preparation.isComplete(),
    wireBounds,
  };
  return Threads.start(config, service.counts.threads, {
    data,
    exact: service.exact,
    methodsOfCapabilities: () => methodsOf(opened),
    attach: () => store.attach(),
    prepared: preparation.completed,
    metrics: service.metrics,
    writeLines,
    onFailure,
  });
}

/** Calls back only once: if several threads fail, the first reason counts. */
function onceOnly(callback: (reason: string) => void): (reason: string) => void {
  let isCalled = false;
  return (reason) => {
    if (isCalled) return;
    isCalled = true;
    callback(reason);
  };
}

/** Listens for a monitor, if the metrics have an address of their own. The listener is loaded only then. */
async function serveMetrics(
  { metrics: place }: Config,
  { metrics, log }: Administration & Clock,
): Promise<MetricsListener | undefined> {
  if (place === undefined || place === "administrators" || metrics === undefined) return undefined;
  const { listenForMetrics } = await import("./server/metrics-listener.ts");
  return listenForMetrics(place, metrics, log).catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, { ...place, option: "--metrics" });
  });
}

/** Stops all threads together. The main thread closes its store last, because it does work for all. */
async function stop(parts: Parts, drainDelayMs: number): Promise<void> {
  const { server, close, opened, listener, threads } = parts;
  opened.drain();
  threads?.send({ kind: "drain" });
  parts.stage = "the load balancers (drainDelayMs)";
  await sleep(drainDelayMs);
  parts.stage = "requests and connections";
  opened.endStreams();
  const othersEnd = threads?.stop();
  await acceptQueued(server);
  await listener?.close();
  await close();
  parts.stage = "the other threads";
  await othersEnd;
  parts.stage = "deliveries of webhooks and the store";
  await opened.close();
}

function unfinished({ opened, stage = "the stop of other parts" }: Parts): string {
  const { requests, streams, connections } = opened.service.counts;
  const counts = { requests, "event streams": streams, connections };
  const open = Object.entries(counts).map(([what, { all }]) => `${all} ${what}`);
  return `it waited for ${stage}, with ${open.join(", ")}`;
}
