/** Opens the service: the store, prepared for the configuration, and everything else that a request needs. */

import { hash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { type Logger, pino } from "pino";
import type { Authenticate, Authenticator, AuthParts } from "../access/authenticate.ts";
import { FirstKey, type FirstKeyOffer, type FirstKeyPlan, offerFirstKey } from "../access/first-key.ts";
import { createTags } from "../access/tags.ts";
import {
  encryptsFor,
  endpointsOf,
  type LoadedCapability,
  loadCapabilities,
  type OpenCapabilities,
  type ReplacedInCapabilities,
  readingOf,
} from "../capabilities/all.ts";
import type { Core, OpenCapability } from "../capability.ts";
import { CommitWatch } from "../changes/commit-watch.ts";
import { createSharedFrames } from "../changes/feed.ts";
import { LastStates } from "../changes/last-states.ts";
import { createPositions } from "../changes/position.ts";
import { SharedLog } from "../changes/shared-log.ts";
import { type Clock, type ServiceClock, systemClock } from "../clock.ts";
import type { Collection } from "../collection/collection.ts";
import { createUuidSource } from "../collection/uuids.ts";
import type { Config } from "../config.ts";
import { clockSeconds } from "../counters.ts";
import { Expiry, nothingExpires } from "../expiry/expired.ts";
import { liveStore } from "../expiry/live-store.ts";
import { Sweeper } from "../expiry/sweeper.ts";
import { planStart, requireDeclared } from "../fit.ts";
import { type Counting, startCounting } from "../http/admission/exact-counts.ts";
import { createTurns } from "../http/admission/turns.ts";
import { createEndpointTable } from "../http/endpoints/endpoint-table.ts";
import { heartbeatMs } from "../http/events/stream.ts";
import { createHostCheck } from "../http/protocol/hosts.ts";
import type { EndpointPaths, Feed, KeyAdministration, Log, Metrics, Service } from "../http/service.ts";
import type { HttpSettings } from "../http/settings.ts";
import type { Meters, ThreadMetrics } from "../observe/metrics.ts";
import type { Tracing } from "../observe/tracing.ts";
import type { Vault } from "../secrets.ts";
import { createKeyedQueue } from "../store/core/keyed-queue.ts";
import { startWhenFree } from "../store/core/loads.ts";
import { createTurnBudget, type TurnBudget } from "../store/core/turn-budget.ts";
import { onStoreOf, openStore, reasonOf, type StoreOptions } from "../store/open.ts";
import type { HistoryStore, Store } from "../store/port/store.ts";
import { StoreClock } from "../store-clock.ts";
import { type TaskStep, Tasks } from "../tasks/task-loop.ts";
import { TaskRecords } from "../tasks/task-records.ts";
import type { Call, Methods } from "./calls.ts";
import { type Preparation, prepareStore } from "./prepare-store.ts";

/** What a program or test can provide. A test can replace parts of capabilities. */
export interface ServiceOptions extends ReplacedInCapabilities {
  /** @default a log without output */
  log?: Log;
  /** Called once when the store has failed permanently. The program should then stop. */
  onFailure?: (reason: string) => void;
  /** Whether the service runs inside another application. @default false */
  isEmbedded?: boolean;
  /** The names of options that the application decides, if the service is part of one. @default none */
  decidedElsewhere?: readonly string[];
  /** Settings of the store for tests and measurements. */
  storeOptions?: StoreOptions;
  /** The clock, as Unix time in milliseconds, for tests. @default Date.now */
  now?: () => number;
  /** A clock in milliseconds that never goes back, for tests. @default performance.now */
  elapsed?: () => number;
  /** How the service waits for times. @default the timers of the machine */
  clock?: ServiceClock;
  /** Whether capabilities and the sweep of expired resources work in the background. @default true, unless the service is read-only */
  delivers?: boolean;
  /** Whether this is a service of `holdfast/testing` (`Core.isForTests`). @default false */
  isForTests?: boolean;
  /** The part of this service, if several threads serve. @default this thread serves alone */
  thread?: ThreadPart;
  /** The clock of the sweep that deletes expired resources, for tests. @default that of the service */
  sweepClock?: Clock;
  /** Shows a text on the terminal of the operator, which is not kept as a log is. @default there is no terminal */
  showOnTerminal?: (text: string) => void;
  /** How often a quiet stream sends its position, in milliseconds, for tests. @default 15000 */
  heartbeatMs?: number;
  /** How much one turn of the event loop handles, for tests. @default the result of `createTurnBudget` */
  turnBudget?: TurnBudget;
}

/** The part of one thread. The main thread prepares the store, delivers, and makes the text of the metrics. */
export type ThreadPart = MainThread | OtherThread;

/** The part of the main thread. */
interface MainThread {
  kind: "main";
  /** What all threads count. */
  counting: Counting;
  /** The metrics of all other threads. */
  othersMetrics(): Promise<readonly ThreadMetrics[]>;
}

/** The part of another thread. */
interface OtherThread {
  kind: "other";
  /** From 1. */
  number: number;
  counting: Counting;
  /** Calls the main thread. */
  call: Call;
  /** Lets this thread use the store of the main thread; absent if it opens the store itself. */
  attachment?: unknown;
  /** Resolves when the main thread has prepared the store; absent if it has already. */
  prepared?: Promise<void> | undefined;
  /** The text of all threads, from the main thread. */
  metrics: Metrics;
}

/** An open service, without a listener. */
export interface OpenService {
  service: Service;
  store: Store;
  /** The open capabilities, by name. */
  capabilities: OpenCapabilities;
  /** Whether the store is prepared, and when it is. */
  preparation: Pick<Preparation, "isComplete" | "completed">;
  /** The metrics of this thread alone. Exists only in a thread that is not the main thread, if metrics are on. */
  metricsOfThread?: () => Promise<ThreadMetrics>;
  /** Offers a token for the first API key, in this thread. */
  offerFirstKey(plan: FirstKeyPlan): FirstKeyOffer;
  /** Accepts the token of an offer that another thread has made. */
  acceptFirstKey(offer: FirstKeyOffer): void;
  /** Turns readiness off. From now on, every response closes its connection. */
  drain(): void;
  /** Deletes the resources that have expired, if this instance holds the lease for it. It also happens regularly. */
  sweepExpired(): Promise<void>;
  /** Ends the streams of events. */
  endStreams(): void;
  /** Closes the store. */
  close(): Promise<void>;
}

/** Opens the service. Throws StartError if it cannot open the store or the configuration does not fit it. */
export async function openService(config: Config, options: ServiceOptions = {}): Promise<OpenService> {
  const { log = pino({ level: "silent" }) } = options;
  const thread = options.thread ?? {
    kind: "main",
    counting: startCounting(config.http),
    othersMetrics: async () => [],
  };
  const turnBudget = options.turnBudget ?? createTurnBudget();
  const onFailure = options.onFailure ?? (() => {});
  const room = config.metrics === undefined ? undefined : await import("../observe/metrics.ts");
  const meters = room && new room.Meters();
  const tracing = await findTracing(config.store.kind, (text) => log.warn(text));
  const opened = await openStore(config.store, {
    answersPerTurn: turnBudget.perTurn,
    queryMs: config.http.limits.queryMs,
    importWaitMs: config.http.limits.handlerTimeoutMs / 2,
    ...(thread.kind === "other" && { attachment: thread.attachment }),
    history: config.history,
    readOnly: config.readOnly,
    ...(meters && { meter: meters.commits }),
    ...options.storeOptions,
    onFailure,
    onWarning: thread.kind === "main" ? (text) => log.warn(text) : () => {}, // it is about the whole store
    onInfo: (text) => log.info(text),
    mayWait: true,
  });
  const store = tracing === undefined ? opened : tracing.storeWithSpans(opened);
  try {
    const complete = { ...options, log, thread, turnBudget, onFailure, meters, tracing };
    const service = await openOn(store, config, complete);
    if (room && meters) addMetrics(service, room, { meters, store, kind: config.store.kind, thread });
    return service;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Lets a monitor read what the meters count, of all threads. */
function addMetrics(
  opened: OpenService,
  { createMetrics, createThreadMetrics }: typeof import("../observe/metrics.ts"),
  { meters, store, kind, thread }: { meters: Meters; store: Store; kind: string; thread: ThreadPart },
): void {
  const { service, capabilities } = opened;
  const { feed, counts, hasStarted } = service;
  const streams = feed && counts.streams;
  const added = Object.values<OpenCapability>(capabilities).flatMap(({ metrics = [] }) => metrics);
  const sources = { storeKind: kind, store, streams, added, hasStarted };
  if (thread.kind === "main") {
    service.metrics = createMetrics(meters, { ...sources, thread: 0 }, thread.othersMetrics);
  } else {
    const { number, metrics } = thread;
    service.metrics = metrics;
    opened.metricsOfThread = createThreadMetrics(meters, { ...sources, thread: number });
  }
}

type CompleteOptions = ServiceOptions &
  Required<Pick<ServiceOptions, "log" | "thread" | "turnBudget" | "onFailure">> & {
    meters: Meters | undefined;
    tracing: Tracing | undefined;
  };

/** What changes in a service after it is made. */
interface ServiceState {
  /** The secret of the store. The preparation sets it before the service handles a request. */
  secret: Buffer;
  /** Set by the preparation, if the service needs one. */
  vault: Vault | undefined;
  preparation: Preparation | undefined;
  isDraining: boolean;
  /** Aborted when the service stops. */
  readonly stopping: AbortController;
}

async function openOn(store: Store, config: Config, options: CompleteOptions): Promise<OpenService> {
  const { log, thread, meters, tracing, now = Date.now } = options;
  const stopping = new AbortController();
  const state: ServiceState = {
    secret: Buffer.alloc(0),
    vault: undefined,
    preparation: undefined,
    isDraining: false,
    stopping,
  };
  const vault = (): Vault => {
    if (state.vault === undefined) throw new Error("The vault is used before the store is prepared.");
    return state.vault;
  };
  const capabilities = await loadCapabilities();
  const opened = new Map<string, OpenCapability>();
  const isShared = config.store.kind !== "sqlite";
  const isWorker = thread.kind === "main" && !config.readOnly;
  const works = isWorker && options.delivers !== false;
  const expiring = expiringOf(store, config, options);
  const clock = options.clock ?? systemClock(now);
  const service = createService(store, config, options, {
    state,
    expiring,
    endpoints: createEndpointTable(endpointsOf(capabilities, config, opened)),
    failing: () => [...opened].flatMap(([name, each]) => (each.isFailing?.() === true ? [name] : [])),
  });
  const core: Omit<Core, "call"> = {
    service,
    store,
    address: config.store,
    isShared,
    hasSecret: config.secrets.length > 0,
    vault,
    isLocal: config.isLocal,
    callers: {
      takesKeys: config.auth?.keys === true,
      administrators: config.auth?.administrators ?? [],
      keyRoles: config.keyRoles,
    },
    showOnTerminal: options.showOnTerminal ?? (() => {}),
    clock,
    isForTests: options.isForTests === true,
    isMetered: meters !== undefined,
    stopping: stopping.signal,
    tracing: tracing?.work,
  };
  const stopOpened = () =>
    inTurn([
      ...[...opened.values()].reverse().map((each) => async () => each.stop?.()),
      async () => state.preparation?.stop(),
    ]);
  try {
    await openAll(capabilities, opened, { config, options }, core);
    state.preparation = await prepareStore({
      prepare: async () => {
        await store.reach?.();
        if (thread.kind === "main") await declare(store, config);
        state.secret = await store.secret();
        state.vault = await vaultOf(store, config, { capabilities, now });
        await expiring?.storeClock.measure();
        for (const each of opened.values()) await each.prepare?.({ works: isWorker });
      },
      mayWait: store.reach !== undefined,
      after: thread.kind === "other" ? thread.prepared : undefined,
      log,
      reasonOf: (error) => reasonOf(config.store, error),
      onFailure: options.onFailure,
    });
    await addCallers(service, config, { store, opened });
  } catch (error) {
    await stopOpened().catch(() => {}); // the first error tells the reason
    throw error;
  }
  if (config.http.hasKeys) service.keys = keysOf(store, config, opened);
  const tasks = createTasks(service, store, isShared);
  service.tasks = tasks;
  if (isWorker) tasks.start();
  for (const each of opened.values()) each.start?.({ works });
  const sweeper = expiring && createSweeper(service, store, { expiring, works, isShared, clock, options });
  if (!core.isForTests) sweeper?.start();
  const acceptFirstKey = (offer: FirstKeyOffer) => {
    service.firstKey = new FirstKey({ keys: store.keys, now, elapsed: sharedClock }, offer);
  };
  return {
    service,
    store,
    capabilities: Object.fromEntries(opened) as unknown as OpenCapabilities,
    preparation: state.preparation,
    offerFirstKey: (plan) => {
      const offer = offerFirstKey(plan, sharedClock());
      acceptFirstKey(offer);
      return offer;
    },
    acceptFirstKey,
    drain: () => {
      state.isDraining = true;
    },
    sweepExpired: async () => sweeper?.sweep(),
    endStreams: () => stopping.abort(),
    close: async () => {
      stopping.abort();
      await inTurn([
        async () => sweeper?.stop(),
        () => tasks.stop(),
        stopOpened,
        () => store.close(),
        async () => tracing?.flush(),
      ]);
    },
  };
}

/** Does each work, one after the other, also after one has failed. Then throws the first error. */
async function inTurn(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const work of works) await work().catch((error: unknown) => void errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** The service, without what capabilities and tasks add to it. */
function createService(
  store: Store,
  config: Config,
  options: CompleteOptions,
  {
    state,
    expiring,
    endpoints,
    failing,
  }: {
    state: ServiceState;
    expiring: ReturnType<typeof expiringOf>;
    endpoints: EndpointPaths;
    failing: Service["failing"];
  },
): Service {
  const { log, turnBudget, meters, tracing, thread } = options;
  const { now = Date.now, elapsed = () => performance.now(), isEmbedded = false } = options;
  const { http } = config;
  const { handlerTimeoutMs } = http.limits;
  const tags = createTags(() => state.secret);
  return {
    store: expiring?.live ?? store,
    expired: expiring?.expiry ?? nothingExpires,
    load: (...args) => startWhenFree(() => store.load(...args), handlerTimeoutMs),
    exclusively: (...args) => startWhenFree(() => store.exclusively(...args), handlerTimeoutMs),
    ...(http.hasFeed && {
      feed: createFeed(store, {
        positions: createPositions(() => state.secret),
        tags,
        heartbeatMs: options.heartbeatMs ?? heartbeatMs,
        stopping: state.stopping.signal,
        ...(meters && { lags: meters.lags }),
      }),
    }),
    turnBudget,
    now,
    elapsed,
    log,
    tags,
    isDraining: () => state.isDraining,
    hasStarted: () => state.preparation?.isComplete() === true,
    failing,
    endpoints,
    participants: new Map(),
    isEmbedded,
    isForLoopback: isEmbedded && config.isLocal && http.cookieOrigins !== undefined,
    collections: () => config.collections,
    openCollections: config.openCollections,
    settings: http,
    readOnly: config.readOnly,
    access: config.access,
    writes: createKeyedQueue({ maxWaitMs: handlerTimeoutMs }),
    pending: new Map(),
    keysInProgress: new Map(),
    ...thread.counting,
    newUuid: createUuidSource(),
    isOwnHost: createHostCheck(ownHosts(config)),
    publicUrl: config.publicUrl,
    configuration: {
      file: config.file,
      options: config.options.filter(({ name }) => options.decidedElsewhere?.includes(name) !== true),
    },
    configurationHash: hashConfiguration(http, config.collections),
    ...(meters && { meter: meters.requests }),
    ...(tracing && { tracer: tracing.requests }),
    isObserved: meters !== undefined || tracing !== undefined,
  };
}

/** Lets the service identify its callers. */
async function addCallers(
  service: Service,
  config: Config,
  { store, opened }: { store: Store; opened: ReadonlyMap<string, OpenCapability> },
): Promise<void> {
  const { now, elapsed } = service;
  const others: Authenticator[] = [];
  for (const each of opened.values()) {
    const other = await each.openAuthenticator?.();
    if (other !== undefined) others.push(other);
  }
  const withCookies = others.find(({ identify }) => identify !== undefined);
  if (withCookies !== undefined) {
    service.identify = (request) => withCookies.identify?.(request);
    service.requireReady = async (principal) => withCookies.requireReady?.(principal);
    service.principalNow = async (principal) => withCookies.principalNow?.(principal) ?? principal;
  }
  service.authenticate = await authenticateOf(config, { keys: store.keys, others, now, elapsed });
}

function createTasks(service: Service, store: Store, isShared: boolean): Tasks {
  const { now, newUuid, hasStarted: isReady, log } = service;
  const warn = (text: string) => log.warn(text);
  let step: Promise<TaskStep> | undefined;
  const tasks: Tasks = new Tasks({
    records: new TaskRecords(store),
    store,
    now,
    newUuid,
    isReady,
    isShared,
    step: async (...args) => {
      step ??= createTaskStep(service, tasks);
      return (await step)(...args);
    },
    warn,
  });
  return tasks;
}

function createSweeper(
  service: Service,
  store: Store,
  {
    expiring,
    works: sweeps,
    isShared,
    clock,
    options: { sweepClock = clock },
  }: {
    expiring: NonNullable<ReturnType<typeof expiringOf>>;
    works: boolean;
    isShared: boolean;
    clock: Clock;
    options: CompleteOptions;
  },
): Sweeper {
  const { newUuid, hasStarted: isReady, log } = service;
  const warn = (text: string) => log.warn(text);
  return new Sweeper({ ...expiring, store, sweeps, clock: sweepClock, isShared, isReady, newUuid, warn });
}

/** What deletes and hides expired resources; `undefined` if no collection declares `expires`. */
function expiringOf(store: Store, { collections }: Config, { now = Date.now, log }: CompleteOptions) {
  if (collections.values().every(({ expires }) => expires === undefined)) return undefined;
  const storeClock = new StoreClock(store);
  const terms = { collections: () => collections, now: () => now() + storeClock.offsetMs };
  const expiry = new Expiry({ ...terms, store, warn: (text) => log.warn(text) });
  return { storeClock, expiry, live: liveStore(store, terms, (commit) => expiry.commit(commit)) };
}

/** Opens the capabilities into `opened`, and lets the service use them. They do not work in the background yet. */
async function openAll(
  capabilities: readonly LoadedCapability[],
  opened: Map<string, OpenCapability>,
  { config, options: { thread, ...replaced } }: { config: Config; options: CompleteOptions },
  core: Omit<Core, "call">,
): Promise<void> {
  const { service } = core;
  for (const { name, open } of capabilities) {
    const call: Core["call"] =
      thread.kind === "other" ? (method, ...args) => thread.call(`${name}.${method}`, ...args) : undefined;
    opened.set(name, await open({ ...core, call }, config[name] as never, replaced[name] as never));
  }
  const all = [...opened.values()];
  const own = all.flatMap(({ collections = [] }) => collections);
  service.participants = new Map([
    ...all.flatMap(({ participants = [] }) => [...participants]),
    ...own.map(({ collection, participant }) => [collection.name, participant] as const),
  ]);
  service.joinCommit = onlyOne(all, "joinCommit");
  service.hooks = onlyOne(all, "writeHooks");
  service.unfinished = onlyOne(all, "unfinished");
  for (const { overStore } of all) if (overStore !== undefined) service.store = overStore(service.store);
  if (config.access === undefined || config.access.hasAdministrators)
    service.ownCollections = new Map(own.map(({ collection }) => [collection.name, collection]));
}

/** What the one capability that has this place gives. Throws an Error if there are several, because one would count for nothing. */
function onlyOne<Place extends "joinCommit" | "writeHooks" | "unfinished" | "aboutKeys">(
  all: readonly OpenCapability[],
  place: Place,
): OpenCapability[Place] | undefined {
  const having = all.filter((each) => each[place] !== undefined);
  if (having.length > 1) throw new Error(`Only one capability can have ${place}, not ${having.length}.`);
  return having[0]?.[place];
}

/** A clock in milliseconds that is the same in all threads. */
function sharedClock(): number {
  return clockSeconds() * 1_000;
}

/** Applies the declarations of the configuration to the store. Throws StartError if stored resources do not fit them. */
async function declare(store: Store, config: Config): Promise<void> {
  const plan = await planStart(store, config);
  if (config.readOnly) requireDeclared(store, plan);
  else await onStoreOf(config.store, store.migrate(plan));
}

/** Without `auth`, the code of authentication is not loaded. */
async function authenticateOf(
  { auth }: Config,
  parts: Omit<AuthParts, "settings">,
): Promise<Authenticate | undefined> {
  if (auth === undefined) return undefined;
  const { createAuthenticate } = await import("../access/authenticate.ts");
  return createAuthenticate({ settings: auth, ...parts });
}

/**
 * The vault, if the service encrypts or was given a secret. Its code is not loaded otherwise. Throws StartError if a secret is
 * missing or wrong, and the errors of the store.
 */
async function vaultOf(
  store: Store,
  config: Config,
  { capabilities, now }: { capabilities: readonly LoadedCapability[]; now: () => number },
): Promise<Vault | undefined> {
  const option = encryptsFor(readingOf(config));
  const isNeeded = option !== undefined || config.secrets.length > 0;
  if (!isNeeded && !(await haveEncrypted(capabilities, store))) return undefined;
  const { openVault } = await import("../open-vault.ts");
  const isSqlite = config.store.kind === "sqlite";
  return openVault(store, { ...config, isSqlite, encryptsFor: option, now });
}

async function haveEncrypted(capabilities: readonly LoadedCapability[], store: Store): Promise<boolean> {
  for (const { inStore } of capabilities) if (await inStore?.hasEncrypted?.(store)) return true;
  return false;
}

/** The code that works on tasks is loaded for the first step. */
async function createTaskStep(service: Service, tasks: Tasks): Promise<TaskStep> {
  return (await import("../http/many/tasks/task-steps.ts")).createTaskStep(service, tasks);
}

function keysOf(
  { keys }: Store,
  { auth, keyRoles }: Config,
  opened: ReadonlyMap<string, OpenCapability>,
): KeyAdministration {
  const reservedSubjects = (auth?.administrators ?? []).flatMap((rule) =>
    "subject" in rule ? [rule.subject] : [],
  );
  return { store: keys, roles: keyRoles, reservedSubjects, ...onlyOne([...opened.values()], "aboutKeys") };
}

/**
 * The names that requests can use. The address to listen on is one of them, unless it means every address. In a local service that sets
 * cookies, a proxy that was forgotten in the configuration shows at once.
 */
function ownHosts({ host, http, auth, isLocal }: Config): readonly string[] | "any" {
  if (auth !== undefined) return http.cookieOrigins !== undefined && isLocal ? [] : "any";
  return host === "0.0.0.0" || host === "::" ? http.hosts : [...http.hosts, host];
}

/** A hash of the options that change the content of lists. */
function hashConfiguration(
  { prefix, limits }: HttpSettings,
  collections: ReadonlyMap<string, Collection>,
): string {
  const schemas = [...collections.values()].map(({ name, schema, search }) => [name, schema, search]);
  const text = JSON.stringify([prefix, limits.page, schemas]);
  return hash("sha256", text, "base64url").slice(0, 8);
}

/** The reads of the change log that all feeds together start in one turn of the event loop. Each gives about 100 events. */
const readsPerTurn = 2;

function createFeed(
  store: HistoryStore,
  parts: Pick<Feed, "positions" | "tags" | "heartbeatMs" | "stopping" | "lags">,
): Feed {
  setMaxListeners(0, parts.stopping); // each stream listens
  const watch = new CommitWatch(store);
  return {
    ...parts,
    watch,
    lastStates: new LastStates(store, watch),
    log: new SharedLog(
      store,
      watch,
      createTurns(() => readsPerTurn),
    ),
    frames: createSharedFrames(),
  };
}

/** What the operator sees of capabilities at the start, by short names. */
export function announcedBy({ capabilities }: OpenService): Readonly<Record<string, string>> {
  const all = Object.values<OpenCapability>(capabilities);
  return Object.assign({}, ...all.map(({ announced }) => announced));
}

/** What capabilities of the main thread do for one other thread: `users.keptMails` is a method of users. */
export function methodsOf({ capabilities }: OpenService): Methods {
  const named = Object.entries<OpenCapability>(capabilities).flatMap(([name, each]) =>
    Object.entries(each.methods?.() ?? {}).map(([method, work]) => [`${name}.${method}`, work] as const),
  );
  return Object.fromEntries(named);
}

/** A log that calls `write` with each complete line. All threads write lines of the same form. */
export function createLineLog(write: (line: string) => void): Logger {
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/** Where every copy of the package `@opentelemetry/api` 1.x keeps what an SDK has registered. */
const registeredTraces = Symbol.for("opentelemetry.js.api.1");

/** The traces; `undefined` without an OpenTelemetry SDK. An SDK that is registered later is not used. */
async function findTracing(storeKind: string, warn: (text: string) => void): Promise<Tracing | undefined> {
  if (!(registeredTraces in globalThis)) return undefined;
  const { createTracing } = await import("../observe/tracing.ts");
  return createTracing(storeKind, warn);
}
