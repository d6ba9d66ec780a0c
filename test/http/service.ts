/**
 * A whole service for one test file: a store in a folder of its own, a free port, and clients that add
 * nothing to a request which the test did not ask for.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import type { Agent as HttpAgent, IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { about as program } from "../../src/about.ts";
import { compileAccess } from "../../src/access/access.ts";
import type { GuardedDeclaration } from "../../src/access/declaration.ts";
import { type Rules, readRules } from "../../src/access/rules.ts";
import type { AuthSettings } from "../../src/access/settings.ts";
import type { Collection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import type { Config } from "../../src/config.ts";
import { defaultLimits, type Info, type Limits, type Rate, type TlsFiles } from "../../src/http/settings.ts";
import type { WireBounds } from "../../src/http/wire/app.ts";
import { startServer } from "../../src/server.ts";
import { defaultHistory, type History } from "../../src/store/history.ts";
import { openStore, type StoreAddress } from "../../src/store/open.ts";
import type { Pace } from "../../src/store/pace.ts";
import { recordOf } from "../../src/store/record.ts";
import { ceilingMs } from "../until.ts";
import { type Connection, openConnection } from "./connection.ts";
import { decoded } from "./decoded.ts";
import { watchAnswers } from "./described/watch-answers.ts";
import { type ProbeBounds, startProbe } from "./probe.ts";
import { openTestStore } from "./test-store.ts";

/** Not imported: see `src/http/protocol/node-http.ts`. */
const { Agent, request: httpRequest } = process.getBuiltinModule("node:http");

/** What a test may want to be different. */
export interface ServiceOptions {
  /** As in the configuration file. Without it, every collection springs into being. */
  collections?: Readonly<Record<string, GuardedDeclaration>>;
  /** @default true without `collections`, false with them */
  openCollections?: boolean;
  /** Where the store is. @default one of its own, as the whole suite runs on */
  store?: StoreAddress;
  prefix?: string;
  hosts?: readonly string[];
  corsOrigins?: readonly string[];
  rate?: Rate;
  tls?: TlsFiles;
  trustProxy?: readonly string[];
  requireTls?: boolean;
  /** @default true */
  docs?: boolean;
  /** @default true */
  compression?: boolean;
  /** @default Holdfast, 1.0.0 */
  info?: Info;
  /** @default false */
  showPrincipal?: boolean;
  /** @default the program's, but for those of time, which are far longer */
  limits?: Partial<Limits>;
  drainDelayMs?: number;
  wireBounds?: Partial<WireBounds>;
  /** Unix time in milliseconds. */
  now?: () => number;
  /** How much is done in a turn of the event loop. @default the program's */
  pace?: Pace;
  /** What is there before the service starts, by collection, whoever may create it then. */
  seeds?: Readonly<Record<string, readonly ({ id: string } & Record<string, unknown>)[]>>;
  /** @default the program's */
  history?: History;
  /** For a test whose own code holds up the thread or takes much memory; it says why. */
  probe?: Partial<ProbeBounds>;
  /** @default false */
  readOnly?: boolean;
  /** Whether its answers are held against the OpenAPI document. @default true */
  isWatched?: boolean;
  /** @default nobody is asked who they are */
  auth?: AuthSettings;
}

/** One request. Only Host, Connection and Content-Length are added to what it says. */
export interface Request {
  method?: string;
  path: string;
  headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as it is, without a Content-Type of its own. */
  body?: string | Uint8Array;
  /** Sent as JSON text with `Content-Type: application/json; charset=utf-8` unless `headers` has one. */
  content?: unknown;
}

/** One answer. */
export interface Answer {
  method: string;
  status: number;
  /** By lower-case name. */
  headers: Record<string, string | undefined>;
  rawHeaders: readonly string[];
  /** The content as it was sent. */
  bytes: Buffer;
  /** The content without its coding. */
  text: string;
  /** The text as a JSON value; throws when it is not JSON. */
  readonly json: unknown;
}

/** A resource that a test made for itself. */
export interface Made {
  id: string;
  path: string;
  body: Record<string, unknown>;
}

/** A service that is running. */
export interface Service {
  origin: string;
  port: number;
  /** Where its store is. */
  store: StoreAddress;
  /** Sends one request. A 5xx fails the test unless `mayFail` is set. */
  send(request: Request, options?: { mayFail?: boolean }): Promise<Answer>;
  /** Sends bytes and gives all that comes back until the service closes the connection. */
  raw(bytes: string | Uint8Array): Promise<string>;
  connect(): Promise<Connection>;
  /** Reads certificate and key again. */
  reloadTls(): Promise<void>;
  /** Creates a resource and checks that it went well. */
  create(collection: string, attributes?: Record<string, unknown>): Promise<Made>;
  /**
   * Stops the service; connections of the tests are closed first unless they are to be kept. Throws when the event loop
   * stood still or memory passed its bound since the start.
   */
  stop(options?: { keepConnections?: boolean }): Promise<void>;
}

/** The media type of the interface, as clients send it. */
export const jsonType = "application/json; charset=utf-8";

/** Starts a service; the test must stop it. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-http-"));
  const place = options.store === undefined ? await openTestStore(folder) : given(options.store);
  const config = await toConfig(place.address, options);
  await sow(config, options.seeds);
  const running = await startServer(config, {
    wireBounds: options.wireBounds ?? {},
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.pace === undefined ? {} : { pace: options.pace }),
  }).catch(async (error: unknown) => {
    place.release();
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const probe = await startProbe(options.probe);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const port = Number(new URL(running.origin).port);
  if (options.isWatched ?? true) watchAnswers(port, config);
  const prefix = options.prefix ?? "/api/v1";
  const connections: Connection[] = [];
  const connect = async () => {
    const connection = await openConnection(port);
    connections.push(connection);
    return connection;
  };
  const send: Service["send"] = async (request, { mayFail = false } = {}) => {
    const answer = await sendRequest(port, agent, request);
    if (!mayFail)
      assert.ok(answer.status < 500, `${request.method} ${request.path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  return {
    origin: running.origin,
    port,
    store: place.address,
    send,
    connect,
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
      agent.destroy();
      // A test that failed may have left a request half sent.
      if (!keepConnections) for (const connection of connections) connection.close();
      await running.stop();
      place.release();
      await rm(folder, { recursive: true, force: true });
      probe.stop();
    },
  };
}

function given(address: StoreAddress) {
  return { address, release: () => {} };
}

async function sow({ store: address, collections }: Config, seeds: ServiceOptions["seeds"]): Promise<void> {
  if (seeds === undefined) return;
  const store = await openStore(address);
  try {
    await store.migrate([...collections.values()].map(recordOf));
    for (const [collection, resources] of Object.entries(seeds)) {
      for (const resource of resources) {
        const key = { collection, id: resource.id };
        await store.commit({
          changes: [{ key, expect: "absent", next: JSON.stringify(resource) }],
          at: Date.now(),
        });
      }
    }
  } finally {
    await store.close();
  }
}

/** The program's limits, but for those of time: on a busy machine anything may take long. */
const patientLimits: Limits = {
  ...defaultLimits,
  queryMs: ceilingMs,
  headersTimeoutMs: ceilingMs,
  requestTimeoutMs: 2 * ceilingMs,
  handlerTimeoutMs: ceilingMs,
  keepAliveTimeoutMs: 2 * ceilingMs,
};

async function toConfig(store: StoreAddress, options: ServiceOptions): Promise<Config> {
  const collections = new Map<string, Collection>();
  const rules = new Map<string, Rules>();
  for (const [name, declaration] of Object.entries(options.collections ?? {})) {
    const collection = await defineCollection(name, declaration);
    collections.set(name, collection);
    const unseen = { ...collection, visibility: undefined };
    rules.set(
      name,
      readRules(declaration.access, `collections.${name}.access`, () => unseen),
    );
  }
  const openCollections = options.openCollections ?? options.collections === undefined;
  return {
    file: undefined,
    content: {},
    store,
    collections,
    access: options.auth === undefined ? undefined : compileAccess(collections, rules, { openCollections }),
    roles: [],
    history: options.history ?? defaultHistory,
    auth: options.auth,
    openCollections,
    http: {
      prefix: options.prefix ?? "/api/v1",
      hosts: options.hosts ?? [],
      corsOrigins: options.corsOrigins ?? ["loopback"],
      rate: options.rate,
      tls: options.tls,
      trustProxy: options.trustProxy ?? [],
      requireTls: options.requireTls ?? false,
      docs: options.docs ?? true,
      compression: options.compression ?? true,
      info: options.info ?? { title: "Holdfast", version: program.version },
      showPrincipal: options.showPrincipal ?? false,
      hasFeed: options.history !== "none",
      limits: { ...patientLimits, ...options.limits },
    },
    host: "127.0.0.1",
    port: 0,
    logRequests: false,
    insecure: false,
    readOnly: options.readOnly ?? false,
    accept: false,
    drainDelayMs: options.drainDelayMs ?? 0,
    stopTimeoutMs: ceilingMs,
  };
}

function sendRequest(port: number, agent: HttpAgent, request: Request): Promise<Answer> {
  const { method = "GET", path } = request;
  const { headers, body } = toWire(request);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: "127.0.0.1", port, agent, method, path, headers });
    // A service that refuses early closes while we still write; its answer counts, not our broken pipe.
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
