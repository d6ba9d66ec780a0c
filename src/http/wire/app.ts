/**
 * The application of Fastify: listens, limits connections and headers, and closes. This is the only file that imports
 * Fastify. It passes every request to `serve.ts` with its content unread, and uses no hook or route for our logic.
 */
import { randomUUID } from "node:crypto";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { createBudget } from "../limits/budget.ts";
import type { Count } from "../limits/count.ts";
import type { Service } from "../service.ts";
import type { Limits } from "../settings.ts";
import { answerClientError } from "./client-errors.ts";
import { type Connection, isCounted, waitingInAll } from "./connections.ts";
import { noteWaiting, routeExpectations } from "./expectations.ts";
import { createServe, createWire, type Wire } from "./serve.ts";
import { createTimeoutListener, type StallBounds } from "./stalled.ts";
import type { KeyPair } from "./tls.ts";
import { canHandOver, serveUpgrades } from "./upgrade.ts";

/** An application of Fastify: our own, or the one that the service is embedded in. */
export type App = FastifyInstance;

/** What an application needs in addition to the service. */
export interface AppOptions {
  /** Whether to log each request. */
  logRequests: boolean;
  /** Certificate and key; without them, the service does not encrypt. */
  tls?: KeyPair | undefined;
  /** Limits that are not part of the configuration, for tests and measurements. */
  bounds?: Partial<WireBounds> | undefined;
}

/** The limits of all connections together, and how long a client can leave its response unread. */
export interface WireBounds extends StallBounds {
  /** Connections of all threads. Further ones are closed at once. @default 10000 */
  maxConnections: number;
  /** Content of requests in progress and of responses that are not read yet, in bytes. @default 67108864 */
  maxHeldBytes: number;
  /** Requests in progress, at most one on each connection. Further ones are refused. @default 5000 */
  maxRequests: number;
}

const defaultBounds: WireBounds = {
  maxConnections: 10_000,
  maxHeldBytes: 67_108_864,
  maxRequests: 5_000,
  stalledTimeoutMs: 60_000,
  longestStallMs: 600_000,
  slowestBytesPerSecond: 10_000,
};

/** Replaces Fastify's own compilers. No route has a schema, and loading them would make the start much slower. */
const noCompilers = { buildValidator: noCompiler, buildSerializer: noCompiler };

function noCompiler(): never {
  throw new Error("No route of the service has a schema.");
}

/** The application that serves a service. It does not listen yet. */
export function createApp(service: Service, options: AppOptions): FastifyInstance {
  const { limits, trustProxy } = service.settings;
  const bounds = { ...defaultBounds, ...options.bounds };
  const budget = createBudget(bounds.maxHeldBytes, bounds.maxRequests, service.shared);
  service.meter?.watch(budget);
  const wire = createWire({ service, logRequests: options.logRequests, budget, bounds });
  const serve = handlerOf(wire, ({ id }) => id);
  const app = fastify({
    logger: false,
    genReqId: createRequestIds(),
    pluginTimeout: 0, // a busy machine can take long to start
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: bounds.stalledTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false, // an accepted request gets its response, even while the service stops
    schemaController: { compilersFactory: noCompilers },
    routerOptions: { maxParamLength: limits.headerBytes },
    ...(trustProxy.length === 0 ? {} : { trustProxy: [...trustProxy] }),
    ...serverOptions(limits, options.tls),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, service.meter),
    frameworkErrors: (_error, request, reply) => serve(request, reply),
  });
  for (const event of ["connection", "secureConnection"])
    app.server.on(event, (connection: Connection) => {
      connection[waitingInAll] = wire.waitingInAll;
      wire.largeReads.noteConnection();
      wire.largeBodies.atWork.noteConnection();
    });
  limitConnections(app.server, service.shared.connections, bounds.maxConnections);
  serveEverything(app, serve);
  app.setErrorHandler((_error, request, reply) => serve(request, reply)); // for a Content-Type that is not a media type
  routeExpectations(app.server, app.routing);
  const onTimeout = createTimeoutListener(bounds, budget);
  app.server.on("timeout", onTimeout);
  serveUpgrades(app.server, onTimeout, (request, response) => {
    noteWaiting(request, response);
    app.routing(request, response);
  });
  return app;
}

/**
 * Serves a service inside another application, under the prefix of the given instance, and replaces the content parsers of
 * this instance. It sets no error handler: a request that a hook of the application refuses must never be served.
 */
export function mountService(app: FastifyInstance, service: Service): void {
  const nextId = createRequestIds(); // the application's own ids can be anything, and problems contain them
  const budget = createBudget(defaultBounds.maxHeldBytes, defaultBounds.maxRequests, service.shared);
  const wire = createWire({ service, logRequests: false, budget, bounds: defaultBounds });
  serveEverything(app, handlerOf(wire, nextId));
}

/** Closes connections at once while all threads together have `max`. Each thread may exceed this by one at the same moment. */
function limitConnections(server: App["server"], connections: Count, max: number): void {
  const onClose = () => {
    connections.own--;
  };
  server.on("connection", (connection: Connection) => {
    if (connection[isCounted]) return; // `upgrade.ts` passes a connection to the server again
    connection[isCounted] = true;
    connections.own++;
    connection.on("close", onClose);
  });
  // Node compares this with its own connections before it makes a socket.
  Object.defineProperty(server, "maxConnections", { get: () => max - (connections.all - connections.own) });
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => void;

function handlerOf(wire: Wire, idOf: (request: FastifyRequest) => string): Handler {
  const serve = createServe(wire);
  return (request, reply) => {
    reply.hijack();
    serve({ message: request.raw, response: reply.raw, id: idOf(request), client: request });
  };
}

/** Serves every request with its content unread. */
function serveEverything(app: FastifyInstance, serve: Handler): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _content, done) => done(null));
  app.all("/*", serve);
  app.setNotFoundHandler(serve); // OPTIONS *, TRACE, //path, QUERY …
}

/** While the service stops, it waits at most this long for TLS handshakes in progress, in milliseconds. */
const maxHandshakeMs = 5_000;

function serverOptions(limits: Limits, tls: KeyPair | undefined) {
  const http = {
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: 1_000, // Node checks its timeouts only this often
    maxHeaderSize: limits.headerBytes, // includes the target
    requireHostHeader: false, // `route.ts` refuses such a request
    shouldUpgradeCallback: canHandOver,
  };
  if (tls === undefined) return { http };
  const https = { ...http, ...tls, handshakeTimeout: Math.min(limits.headersTimeoutMs, maxHandshakeMs) };
  return { https: https as typeof http }; // one type of server is enough here
}

/** Makes UUIDs (RFC 9562 §5.8) that identify requests: a random part for the process, and a counter. */
function createRequestIds(): () => string {
  const [a, b, , d] = randomUUID().split("-");
  const start = `${a}-${b}-8${randomUUID().slice(15, 18)}-${d}-`;
  let count = 0;
  return () => start + (++count).toString(16).padStart(12, "0");
}
