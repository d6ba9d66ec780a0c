/**
 * Starts a whole service for a test: with its own store, a free port, and a client that adds nothing to the requests of the
 * test.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { Agent as HttpAgent, IncomingMessage } from "node:http";
import { join } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { about as program } from "../../src/about.ts";
import { compileAccess } from "../../src/access/access.ts";
import type { GuardedDeclaration } from "../../src/access/access-declaration.ts";
import type { AuthSettings } from "../../src/access/authenticate.ts";
import { type Rules, readRules } from "../../src/access/rules.ts";
import type { JwtSettings } from "../../src/capabilities/tokens/settings.ts";
import type { KeptMail } from "../../src/capabilities/users/mail/mail-queue.ts";
import type { PeopleSettings, UserSettings } from "../../src/capabilities/users/user-settings.ts";
import type { Collection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import { withRelations } from "../../src/collection/relations.ts";
import { type Config, loadConfig } from "../../src/config.ts";
import type { Counting } from "../../src/http/admission/exact-counts.ts";
import type { Log } from "../../src/http/service.ts";
import { defaultLimits, type Info, type Limits, type Rate, type TlsFiles } from "../../src/http/settings.ts";
import type { WireBounds } from "../../src/http/wire/bounds.ts";
import type { MetricsPlace } from "../../src/observe/place.ts";
import { readUniqueWhere } from "../../src/query/unique-values.ts";
import { readSecrets, secretVariable } from "../../src/secrets.ts";
import { type StartOptions, startServer } from "../../src/server.ts";
import type { TurnBudget } from "../../src/store/core/turn-budget.ts";
import { openStore, type StoreAddress, type StoreOptions } from "../../src/store/open.ts";
import { defaultHistory, type History } from "../../src/store/port/options.ts";
import { recordOf } from "../../src/store/port/record.ts";
import { makeFolder } from "../folder.ts";
import { usualThreads } from "../threads/count.ts";
import { ceilingMs, machineTime } from "../until.ts";
import { type Connection, openConnection } from "./connection.ts";
import { decoded } from "./decoded.ts";
import { watchAnswers } from "./described/watch-answers.ts";
import { canHaveThreads, fileContent } from "./file-content.ts";
import { noCode } from "./plain-settings.ts";
import { type ProbeBounds, startProbe } from "./probe.ts";
import { openTestStore } from "./test-store.ts";

/** Not imported: see `src/http/protocol/node-http.ts`. */
const { Agent, request: httpRequest } = process.getBuiltinModule("node:http");

/** The options of a service. */
export interface ServiceOptions {
  /** The declared collections, as in the configuration file. Without it, the service is in open mode. */
  collections?: Readonly<Record<string, GuardedDeclaration>>;
  /** @default true without `collections`, false with them */
  openCollections?: boolean;
  /**
   * The source of a configuration module, in place of most other options. It can import "holdfast".
   * @default the service has no code of its own
   */
  module?: string;
  /** The address of the store. @default a new store of the kind on which the suite runs */
  store?: StoreAddress;
  prefix?: string;
  hosts?: readonly string[];
  corsOrigins?: readonly string[];
  rate?: Rate;
  tls?: TlsFiles;
  trustProxy?: readonly string[];
  requireTls?: boolean;
  hstsIncludesSubDomains?: boolean;
  /** @default true */
  /** Few tests need the console, so most see the page at `/` that a service without it has. @default false */
  console?: boolean;
  docs?: boolean;
  /** @default a log without output */
  log?: Log;
  /** Where the metrics are served. @default nowhere */
  metrics?: MetricsPlace;
  /** @default true */
  compression?: boolean;
  /** @default Holdfast, 1.0.0 */
  info?: Info;
  /** @default false */
  showPrincipal?: boolean;
  /** @default those of the service, but with much longer times */
  limits?: Partial<Limits>;
  drainDelayMs?: number;
  wireBounds?: Partial<WireBounds>;
  /** Unix time in milliseconds. */
  now?: () => number;
  /** A clock in milliseconds that never goes back, for the ages of checked credentials. @default that of the process */
  elapsed?: () => number;
  /** How often a quiet stream sends its position, in milliseconds. @default the program's */
  heartbeatMs?: number;
  /** How much one turn of the event loop handles. @default the program's */
  turnBudget?: TurnBudget;
  storeOptions?: StoreOptions;
  /** What it counts together with other services. @default its own counts */
  counting?: Counting;
  /** The resources that exist before the service starts, by collection. */
  seeds?: Readonly<Record<string, readonly ({ id: string } & Record<string, unknown>)[]>>;
  /** @default the program's */
  history?: History;
  /**
   * Watches the event loop and the memory of the process, with these limits. For tests whose subject it is: what else runs on the machine
   * and in the process counts too. @default nothing is watched
   */
  probe?: Partial<ProbeBounds>;
  /** Whether it starts although resources do not fit. @default false */
  accept?: boolean;
  /** @default false */
  readOnly?: boolean;
  /** Whether to check its responses against the OpenAPI document. @default true */
  isWatched?: boolean;
  /** @default no authentication */
  auth?: TestAuth;
  /** @default loopback receivers only */
  webhooks?: { allow: readonly string[] };
  /** The values of HOLDFAST_SECRET. @default none, but one on PostgreSQL with users, which do not make one there */
  secrets?: readonly string[];
  /** The clock of the sweep that deletes expired resources. @default that of the machine */
  sweepClock?: StartOptions["sweepClock"];
  /** How code runs. */
  codeParts?: StartOptions["code"];
  /** How webhooks are delivered. */
  webhookParts?: StartOptions["webhooks"];
  /** The mail server. @default none: the service keeps its mails */
  mail?: PeopleSettings["mail"];
  /** Called with each mail that the service keeps instead of sending it. */
  onLocalMail?: (mail: KeptMail) => void;
}

/** The option `auth` of a configuration file, after it was read. */
export type TestAuth = AuthSettings & { jwt?: JwtSettings | undefined; users?: UserSettings };

/** One request. The client adds only Host, Connection and Content-Length. */
export interface Request {
  method?: string;
  path: string;
  headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The exact body. It gets no Content-Type. */
  body?: string | Uint8Array;
  /** A body to send as JSON, with `Content-Type: application/json; charset=utf-8` unless `headers` has one. */
  content?: unknown;
}

/** One response. */
export interface Answer {
  method: string;
  status: number;
  /** By lower-case name. */
  headers: Record<string, string | undefined>;
  rawHeaders: readonly string[];
  /** The body with its content coding. */
  bytes: Buffer;
  /** The body without its content coding. */
  text: string;
  /** The text as a JSON value. Throws if it is not JSON. */
  readonly json: unknown;
}

/** A resource that a test has created. */
export interface Made {
  id: string;
  path: string;
  body: Record<string, unknown>;
}

/** A running service. */
export interface Service {
  origin: string;
  port: number;
  /** The URL of its metrics, if they have an address of their own. */
  metrics: string | undefined;
  /** The address of its store. */
  store: StoreAddress;
  /** Sends one request. A 5xx fails the test unless `mayFail` is set. */
  send(request: Request, options?: { mayFail?: boolean }): Promise<Answer>;
  /** Sends bytes, and returns everything that the service sends until it closes the connection. */
  raw(bytes: string | Uint8Array): Promise<string>;
  connect(): Promise<Connection>;
  /** Reads the certificate and its key again. */
  reloadTls(): Promise<void>;
  /** The link with which the first administrator signs up. */
  offerFirstAccount(): Promise<string | undefined>;
  /** Creates a resource. The test fails if the service refuses it. */
  create(collection: string, attributes?: Record<string, unknown>): Promise<Made>;
  /**
   * Stops the service. Closes the connections of the tests first, unless `keepConnections`. Throws if its probe saw that the event loop
   * was blocked or the memory exceeded its limit.
   */
  stop(options?: { keepConnections?: boolean }): Promise<void>;
}

/** The media type of the interface, as clients send it. */
export const jsonType = "application/json; charset=utf-8";

/** Starts a service that stops when the test ends. */
export async function startFor(
  t: { after(hook: () => Promise<void>): void },
  options: ServiceOptions = {},
): Promise<Service> {
  const service = await startService(options);
  t.after(() => service.stop());
  return service;
}

/**
 * Starts a service for all tests of a file. It stops after the last one. The code of the file that follows must not hold up the
 * thread. If it makes arbitraries of fast-check, call `startService` in `before` instead.
 */
export function startServiceForFile(options: ServiceOptions = {}): Promise<Service> {
  return startFor({ after }, options);
}

/** Starts a service. The test must stop it: most tests call `startFor` instead. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const folder = makeFolder();
  const place = options.store === undefined ? await openTestStore(folder) : given(options.store);
  const config = await configOf(place.address, options, folder);
  await sow(config, options.seeds);
  const running = await startServer(config, {
    wireBounds: options.wireBounds ?? {},
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.elapsed === undefined ? {} : { elapsed: options.elapsed }),
    ...(options.turnBudget === undefined ? {} : { turnBudget: options.turnBudget }),
    storeOptions: { responseMs: ceilingMs, connectMs: ceilingMs, ...options.storeOptions },
    ...(options.counting && {
      thread: { kind: "main", counting: options.counting, othersMetrics: async () => [] },
    }),
    ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
    ...(options.log && { log: options.log }),
    ...(options.onLocalMail === undefined ? {} : { users: { onLocalMail: options.onLocalMail } }),
    ...(options.sweepClock === undefined ? {} : { sweepClock: options.sweepClock }),
    ...(options.codeParts === undefined ? {} : { code: options.codeParts }),
    ...(options.webhookParts === undefined ? {} : { webhooks: options.webhookParts }),
  }).catch(async (error: unknown) => {
    place.release();
    throw error;
  });
  const probe = options.probe && (await startProbe(options.probe));
  const agents = Array.from({ length: config.threads === 1 ? 1 : agentsOfThreads }, createAgent);
  let turn = 0;
  const port = Number(new URL(running.origin).port);
  const endWatch = (options.isWatched ?? true) ? watchAnswers(port, config) : () => {};
  const prefix = options.prefix ?? "/api/v1";
  const connections: Connection[] = [];
  const connect = async () => {
    const connection = await openConnection(port);
    connections.push(connection);
    return connection;
  };
  const send: Service["send"] = async (request, { mayFail = false } = {}) => {
    const agent = agents[turn++ % agents.length] as HttpAgent;
    const answer = await sendRequest(port, agent, request);
    if (!mayFail)
      assert.ok(answer.status < 500, `${request.method} ${request.path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  return {
    origin: running.origin,
    port,
    metrics: running.metrics,
    store: place.address,
    send,
    connect,
    offerFirstAccount: () => running.offerFirstAccount(),
    reloadTls: () => running.reloadTls(),
    async raw(bytes) {
      const connection = await connect();
      connection.write(bytes);
      return connection.untilClosed().finally(() => connection.close());
    },
    async create(collection, attributes = {}) {
      const answer = await send({ method: "POST", path: `${prefix}/${collection}`, content: attributes });
      assert.equal(answer.status, 201, answer.text);
      const body = answer.json as Record<string, unknown>;
      const id = String(body.id);
      return { id, path: `${prefix}/${collection}/${id}`, body };
    },
    async stop({ keepConnections = false } = {}) {
      for (const agent of agents) agent.destroy();
      // A failed test can leave an incomplete request.
      if (!keepConnections) for (const connection of connections) connection.close();
      await running.stop();
      endWatch();
      place.release();
      probe?.stop();
    },
  };
}

/** Requests to several threads take turns on as many connections, which belong to different threads by chance. */
const agentsOfThreads = 8;

const createAgent = () => new Agent({ keepAlive: true, maxSockets: 16 });

function given(address: StoreAddress) {
  return { address, release: () => {} };
}

async function sow({ store: address, collections }: Config, seeds: ServiceOptions["seeds"]): Promise<void> {
  if (seeds === undefined) return;
  const store = await openStore(address);
  try {
    await store.migrate([...collections.values()].map(recordOf));
    for (const [collection, resources] of Object.entries(seeds)) {
      const commits = resources.map((resource) => {
        const key = { collection, id: resource.id };
        const next = JSON.stringify(resource);
        return store.commit({ changes: [{ key, expect: "absent", next }], at: machineTime() });
      });
      await Promise.all(commits); // many share a flush
    }
  } finally {
    await store.close();
  }
}

/** The limits of the service with longer times, because everything can take long on a busy machine. */
const patientLimits: Limits = {
  ...defaultLimits,
  queryMs: ceilingMs,
  headersTimeoutMs: ceilingMs,
  requestTimeoutMs: 2 * ceilingMs,
  handlerTimeoutMs: ceilingMs,
  keepAliveTimeoutMs: 2 * ceilingMs,
};

/** The usual secret of services with users on PostgreSQL. */
const usualSecret = Buffer.alloc(32, 1).toString("base64");

async function configOf(store: StoreAddress, options: ServiceOptions, folder: string): Promise<Config> {
  const { module } = options;
  if (module === undefined) return toConfig(store, options);
  const config = await readModule(store, { source: module, console: options.console ?? false }, folder);
  // Other threads have no part of a test.
  return options.codeParts === undefined ? config : { ...config, threads: 1 };
}

/** What configuration modules of tests import in place of the package. */
export const holdfastModule = pathToFileURL("src/index.ts").href;

async function readModule(
  store: StoreAddress,
  { source, console: hasConsole }: { source: string; console: boolean },
  folder: string,
): Promise<Config> {
  const text = source.replaceAll('"holdfast"', JSON.stringify(holdfastModule));
  writeFileSync(join(folder, "holdfast.config.ts"), text);
  const flags = { port: 0, host: "127.0.0.1", console: String(hasConsole) };
  const env = { HOLDFAST_STORE: store.kind === "sqlite" ? `sqlite:${store.path}` : store.url };
  const config = await loadConfig({ cwd: folder, flags, env });
  const limits = { ...patientLimits, bodyBytes: config.http.limits.bodyBytes };
  const threads = config.threads === "auto" ? usualThreads : config.threads;
  return { ...config, http: { ...config.http, limits }, threads, stopTimeoutMs: ceilingMs };
}

async function toConfig(store: StoreAddress, given: ServiceOptions): Promise<Config> {
  const options = { ...given, limits: { ...patientLimits, ...given.limits } };
  const defined = new Map<string, Collection>();
  for (const [name, declaration] of Object.entries(options.collections ?? {})) {
    const collection = await defineCollection(name, declaration, readUniqueWhere);
    defined.set(name, collection);
  }
  const collections = withRelations(defined);
  const unseen = new Map([...collections].map(([name, each]) => [name, { ...each, visibility: undefined }]));
  const rules = new Map<string, Rules>(
    Object.entries(options.collections ?? {}).map(([name, { access }]) => {
      const collection = () => unseen.get(name) as Collection;
      return [name, readRules(access, `collections.${name}.access`, collection, (each) => unseen.get(each))];
    }),
  );
  const needsSecret = store.kind === "postgres" && options.auth?.users !== undefined;
  const secrets = options.secrets ?? (needsSecret ? [usualSecret] : []);
  const openCollections = options.openCollections ?? options.collections === undefined;
  const users = peopleOf(options);
  return {
    file: undefined,
    content: fileContent(store, options),
    store,
    collections,
    access:
      options.auth === undefined
        ? undefined
        : compileAccess(collections, rules, {
            openCollections,
            administrators: options.auth.administrators ?? [],
          }),
    roles: [],
    options: [
      { name: "port", value: 0, source: "default" },
      { name: "openCollections", value: openCollections, source: "default" },
      ...(options.auth?.keyRoles === undefined
        ? []
        : [{ name: "auth.keyRoles", value: options.auth.keyRoles, source: "file" } as const]),
      ...(options.auth?.users === undefined
        ? []
        : [{ name: "auth.users", value: options.auth.users, source: "file" } as const]),
    ],
    keyRoles: options.auth?.keyRoles ?? [],
    history: options.history ?? defaultHistory,
    auth: options.auth,
    tokens: options.auth?.jwt,
    secrets: secrets.flatMap((each) => readSecrets(each)),
    isLocal: true,
    publicUrl: undefined,
    code: noCode,
    webhooks: options.webhooks ?? { allow: ["127.0.0.0/8"] },
    users,
    openCollections,
    outside: {
      flags: {},
      env: secrets.length === 0 ? {} : { [secretVariable]: secrets.join(",") },
      cwd: process.cwd(),
    },
    http: {
      prefix: options.prefix ?? "/api/v1",
      pagesBelow: undefined,
      hosts: options.hosts ?? [],
      corsOrigins: options.corsOrigins ?? ["loopback"],
      rate: options.rate,
      tls: options.tls,
      trustProxy: options.trustProxy ?? [],
      requireTls: options.requireTls ?? false,
      hstsIncludesSubDomains: options.hstsIncludesSubDomains ?? false,
      console: options.console ?? false,
      docs: options.docs ?? true,
      compression: options.compression ?? true,
      metrics: options.metrics === "administrators",
      info: options.info ?? { title: "Holdfast", version: program.version },
      showPrincipal: options.showPrincipal ?? false,
      hasFeed: options.history !== "none",
      cookieOrigins: options.auth?.users?.origins,
      profiles: options.auth?.users?.collection,
      hooked: new Set(),
      consoleTags: users === undefined ? {} : { users: users.collection, mails: "kept" },
      ofCapabilities: { code: noCode, users },
      hasKeys: options.auth?.keys === true && (options.auth.administrators ?? []).length > 0,
      limits: options.limits,
    },
    host: "127.0.0.1",
    port: 0,
    metrics: options.metrics,
    logRequests: false,
    insecure: false,
    readOnly: options.readOnly ?? false,
    accept: options.accept ?? false,
    threads: canHaveThreads(options) ? usualThreads : 1,
    drainDelayMs: options.drainDelayMs ?? 0,
    stopTimeoutMs: ceilingMs,
  };
}

function peopleOf({ auth, mail }: ServiceOptions): PeopleSettings | undefined {
  if (auth?.users === undefined) return undefined;
  const providerSecrets = Object.fromEntries(
    auth.users.providers.map(({ name }) => [name, `secret of ${name}`]),
  );
  return { ...auth.users, mail, keepsMails: true, logsMails: false, providerSecrets };
}

/** Sends one request to a port of this machine. */
export function sendRequest(port: number, agent: HttpAgent, request: Request): Promise<Answer> {
  const { method = "GET", path } = request;
  const { headers, body } = toWire(request);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: "127.0.0.1", port, agent, method, path, headers });
    // A service that refuses early closes the connection while we still write. Its response counts, not our broken pipe.
    let answered = false;
    outgoing.on("response", (incoming) => {
      answered = true;
      readAnswer(method, incoming).then(resolve, reject);
    });
    outgoing.on("error", (error) => {
      if (!answered) reject(error);
    });
    // Without a limit, a service that forgets a request would hang the tests instead of failing them.
    outgoing.setTimeout(ceilingMs, () =>
      outgoing.destroy(new Error(`no answer to ${method} ${path} in ${ceilingMs} ms`)),
    );
    outgoing.end(body);
  });
}

function toWire(request: Request): {
  headers: Record<string, string | string[]>;
  body?: string | Uint8Array;
} {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers ?? {}))
    headers[name] = typeof value === "string" ? value : [...value];
  if (request.content === undefined)
    return request.body === undefined ? { headers } : { headers, body: request.body };
  if (!Object.keys(headers).some((name) => name.toLowerCase() === "content-type"))
    headers["Content-Type"] = jsonType;
  return { headers, body: JSON.stringify(request.content) };
}

async function readAnswer(method: string, incoming: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = decoded(bytes, incoming.headers["content-encoding"]);
  const headers: Answer["headers"] = {};
  for (const [name, values] of Object.entries(incoming.headersDistinct)) headers[name] = values?.join(", ");
  return {
    method,
    status: incoming.statusCode ?? 0,
    headers,
    rawHeaders: incoming.rawHeaders,
    bytes,
    text,
    get json(): unknown {
      return JSON.parse(text);
    },
  };
}
