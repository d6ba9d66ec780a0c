/** The composition root: opens the store, builds the service, listens, drains, closes. */
import { createHash } from "node:crypto";
import type { AddressInfo, Server } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Server as TlsServer } from "node:tls";
import { type Logger, pino } from "pino";
import type { Authenticate, AuthParts } from "./access/authenticate.ts";
import type { Collection } from "./collection/collection.ts";
import { createUuidSource } from "./collection/ids.ts";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import { planStart } from "./fit.ts";
import type { createApp, WireBounds } from "./http/app.ts";
import { createAnyHostCheck, createHostCheck } from "./http/hosts.ts";
import { createQuotas } from "./http/quota.ts";
import type { Service } from "./http/service.ts";
import type { HttpSettings } from "./http/settings.ts";
import { readKeyPair, type TlsFiles } from "./http/tls.ts";
import { createKeyedQueue } from "./store/keyed-queue.ts";
import { onStoreOf, openStore, type StoreOptions } from "./store/open.ts";
import { createPace, type Pace } from "./store/pace.ts";

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
export interface StartOptions {
  /** @default a log that says nothing */
  log?: Logger;
  /** Called once when the store has failed for good; the program should stop then. */
  onFailure?: (reason: string) => void;
  /** Settings of the store that no configuration offers: for tests and measurements. */
  storeOptions?: StoreOptions;
  /** Bounds of the wire that no configuration offers: for tests and measurements. */
  wireBounds?: Partial<WireBounds>;
  /** Unix time in milliseconds: for tests. @default Date.now */
  now?: () => number;
  /** How much is done in a turn: for tests. @default as `createPace` has it */
  pace?: Pace;
}

/** Opens the store and listens. Throws StartError when either cannot be done. */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const log = options.log ?? pino({ level: "silent" });
  const pace = options.pace ?? createPace();
  const opening = openStore(config.store, {
    answersPerTurn: pace.perTurn,
    queryMs: config.http.limits.queryMs,
    history: config.history,
    ...options.storeOptions,
    onFailure: options.onFailure ?? (() => {}),
  });
  // The store's thread starts while this one loads what speaks HTTP.
  const [store, { createApp }] = await Promise.all([opening, import("./http/app.ts")]);
  try {
    await onStoreOf(config.store, store.migrate(await planStart(store, config)));
    const now = options.now ?? Date.now;
    const parts = { keys: store.keys, now, warn: (text: string) => log.warn(text) };
    const authenticate = await authenticateOf(config, parts);
    let isDraining = false;
    const service: Service = {
      store,
      collections: config.collections,
      openCollections: config.openCollections,
      settings: config.http,
      authenticate,
      access: config.access,
      writes: createKeyedQueue({ maxWaitMs: config.http.limits.handlerTimeoutMs }),
      keysUnderWay: new Set(),
      pace,
      newUuid: createUuidSource(),
      now,
      log,
      isDraining: () => isDraining,
      isOwnHost: config.auth === undefined ? createHostCheck(ownHosts(config)) : createAnyHostCheck(),
      ...(config.http.rate === undefined ? {} : { quotas: createQuotas(config.http.rate) }),
      configurationHash: hashConfiguration(config.http, config.collections),
    };
    const { tls } = config.http;
    const app = createApp(service, {
      logRequests: config.logRequests,
      tls: tls && (await readKeyPair(tls, service.now())),
      bounds: options.wireBounds,
    });
    await listen(app, config);
    const stop = async () => {
      isDraining = true; // readiness is off, and every answer closes its connection
      await sleep(config.drainDelayMs);
      await acceptWaiting(app.server);
      await app.close();
      await store.close();
    };
    const reloadTls = async () => {
      if (tls !== undefined) await reload(app.server, tls, service);
    };
    return { origin: originOf(app.server.address() as AddressInfo, tls !== undefined), reloadTls, stop };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What it brings along is loaded only where somebody is asked who they are. */
async function authenticateOf(
  { auth }: Config,
  parts: Omit<AuthParts, "settings">,
): Promise<Authenticate | undefined> {
  if (auth === undefined) return undefined;
  const { openAuthenticate } = await import("./access/authenticate.ts");
  return openAuthenticate({ settings: auth, ...parts });
}

/** The address that the service was told to listen on is a name of it, unless it stands for every address. */
function ownHosts({ host, http }: Config): readonly string[] {
  return host === "0.0.0.0" || host === "::" ? http.hosts : [...http.hosts, host];
}

/** What changes the lists that a client may hold, beside their resources. */
function hashConfiguration(
  { prefix, limits }: HttpSettings,
  collections: ReadonlyMap<string, Collection>,
): string {
  const schemas = [...collections.values()].map(({ name, schema, search }) => [name, schema, search]);
  const text = JSON.stringify([prefix, limits.page, schemas]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 8);
}

async function listen(app: ReturnType<typeof createApp>, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, host, port);
  }
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
        `Port ${port} of ${host} is taken: stop the program that has it, or choose another with --port.`,
      );
    case "EACCES":
      return new StartError(
        `Port ${port} needs more rights than this user has: choose one above 1023 with --port.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StartError(`This machine has no address ${host}: choose another with --host.`);
    default:
      return error;
  }
}

async function reload(server: Server, files: TlsFiles, { log, now }: Service): Promise<void> {
  try {
    const pair = await readKeyPair(files, now());
    if (server instanceof TlsServer) server.setSecureContext(pair);
    log.info("the certificate was read again");
  } catch (error) {
    log.error({ err: error }, "the certificate was not read again; the one before stays");
  }
}

function originOf({ address, port, family }: AddressInfo, isEncrypted: boolean): string {
  return `${isEncrypted ? "https" : "http"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
