/** Opens what answers: the store, held to the configuration, and everything that a request needs beside it. */
import { createHash } from "node:crypto";
import { pino } from "pino";
import type { Authenticate, AuthParts } from "../access/authenticate.ts";
import type { Collection } from "../collection/collection.ts";
import { createUuidSource } from "../collection/ids.ts";
import type { Config } from "../config.ts";
import { planStart, requireDeclared } from "../fit.ts";
import { createQuotas } from "../http/caller/quota.ts";
import { createTags } from "../http/caller/tags.ts";
import { createAnyHostCheck, createHostCheck } from "../http/hosts.ts";
import type { Log, Service } from "../http/service.ts";
import type { HttpSettings } from "../http/settings.ts";
import { createKeyedQueue } from "../store/keyed-queue.ts";
import { onStoreOf, openStore, reasonOf, type StoreOptions } from "../store/open.ts";
import { createPace, type Pace } from "../store/pace.ts";
import type { Store } from "../store/store.ts";
import { begin } from "./begin.ts";

/** What the caller may bring along. */
export interface ServiceOptions {
  /** @default a log that says nothing */
  log?: Log;
  /** Called once when the store has failed for good; the program should stop then. */
  onFailure?: (reason: string) => void;
  /** Whether the service is a part of another application. @default false */
  isEmbedded?: boolean;
  /** Settings of the store that no configuration offers: for tests and measurements. */
  storeOptions?: StoreOptions;
  /** Unix time in milliseconds: for tests. @default Date.now */
  now?: () => number;
  /** How much is done in a turn: for tests. @default as `createPace` has it */
  pace?: Pace;
}

/** A service that can be asked. */
export interface OpenService {
  service: Service;
  /** From now on readiness is off, and every answer closes its connection. */
  drain(): void;
  /** Lets go of the store. */
  close(): Promise<void>;
}

/** Opens the store and what stands on it. Throws StartError when that cannot be done. */
export async function openService(config: Config, options: ServiceOptions = {}): Promise<OpenService> {
  const log = options.log ?? pino({ level: "silent" });
  const pace = options.pace ?? createPace();
  const store = await openStore(config.store, {
    answersPerTurn: pace.perTurn,
    queryMs: config.http.limits.queryMs,
    history: config.history,
    readOnly: config.readOnly,
    ...options.storeOptions,
    onFailure: options.onFailure ?? (() => {}),
    onWarning: (text) => log.warn(text),
    mayWait: true,
  });
  let secret: Buffer = Buffer.alloc(0); // set before the service answers any request
  try {
    const beginning = await begin({
      fit: async () => {
        await store.reach?.();
        const plan = await planStart(store, config);
        if (config.readOnly) requireDeclared(store, plan);
        else await onStoreOf(config.store, store.migrate(plan));
        secret = await store.secret();
      },
      mayWait: store.reach !== undefined,
      log,
      reasonOf: (error) => reasonOf(config.store, error),
      onFailure: options.onFailure ?? (() => {}),
    });
    const now = options.now ?? Date.now;
    const parts = { keys: store.keys, now, warn: (text: string) => log.warn(text) };
    const authenticate = await authenticateOf(config, parts);
    let isDraining = false;
    return {
      service: toService(config, {
        store,
        authenticate,
        pace,
        now,
        log,
        tags: createTags(() => secret),
        isDraining: () => isDraining,
        hasBegun: beginning.hasBegun,
        isEmbedded: options.isEmbedded ?? false,
      }),
      drain: () => {
        isDraining = true;
      },
      close: async () => {
        await beginning.stop();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface Parts
  extends Pick<Service, "pace" | "now" | "log" | "tags" | "isDraining" | "hasBegun" | "isEmbedded"> {
  store: Store;
  authenticate: Authenticate | undefined;
}

function toService(config: Config, parts: Parts): Service {
  return {
    ...parts,
    collections: config.collections,
    openCollections: config.openCollections,
    settings: config.http,
    readOnly: config.readOnly,
    access: config.access,
    writes: createKeyedQueue({ maxWaitMs: config.http.limits.handlerTimeoutMs }),
    keysUnderWay: new Set(),
    newUuid: createUuidSource(),
    isOwnHost: config.auth === undefined ? createHostCheck(ownHosts(config)) : createAnyHostCheck(),
    ...(config.http.rate === undefined ? {} : { quotas: createQuotas(config.http.rate) }),
    configurationHash: hashConfiguration(config.http, config.collections),
  };
}

/** What it brings along is loaded only where somebody is asked who they are. */
async function authenticateOf(
  { auth }: Config,
  parts: Omit<AuthParts, "settings">,
): Promise<Authenticate | undefined> {
  if (auth === undefined) return undefined;
  const { openAuthenticate } = await import("../access/authenticate.ts");
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
