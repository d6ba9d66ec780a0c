/**
 * The HTTP server of the program. It limits connections and headers, and passes every request to `serve.ts` with its content
 * unread. It uses Node's server directly: a framework would find routes and parse headers that `route.ts` and `protocol/` read again.
 */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type { Count } from "../admission/counts.ts";
import { Admission } from "../admission/ticket.ts";
import { createSecureServer, createServer } from "../protocol/node-http.ts";
import type { Service } from "../service.ts";
import type { Limits } from "../settings.ts";
import { defaultBounds, type WireBounds } from "./bounds.ts";
import { createClientOf } from "./client.ts";
import { answerClientError } from "./client-errors.ts";
import { type Connection, isCounted, waitingInAll } from "./connections.ts";
import { noteWaiting, routeExpectations } from "./expectations.ts";
import { versionOf } from "./request-line.ts";
import { createRequestIds, createServe, createWire, type Wire } from "./serve.ts";
import { createTimeoutListener } from "./stalled.ts";
import type { KeyPair } from "./tls.ts";
import { canHandOver, serveUpgrades } from "./upgrade.ts";

/** What a server needs in addition to the service. */
export interface HttpServerOptions {
  /** Whether to log each request. */
  logRequests: boolean;
  /** Certificate and key; without them, the service does not encrypt. */
  tls?: KeyPair | undefined;
  /** Limits that are not part of the configuration, for tests and measurements. */
  bounds?: Partial<WireBounds> | undefined;
}

/** The server of a service. It does not listen yet. */
export function createHttpServer(service: Service, options: HttpServerOptions): Server {
  const { limits } = service.settings;
  const bounds = { ...defaultBounds, ...options.bounds };
  const admission = new Admission(service, bounds);
  service.meter?.watch(service.counts);
  const wire = createWire({ service, logRequests: options.logRequests, admission, bounds });
  const server = createNodeServer(limits, options.tls);
  server.requestTimeout = limits.requestTimeoutMs; // an option could not be shorter than the one for the headers
  server.keepAliveTimeout = limits.keepAliveTimeoutMs;
  // A client can close its sending side and still read (RFC 9112 §9.6). Node's types lack this member.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.setTimeout(bounds.stalledTimeoutMs);
  limitConnections(server, service.counts.connections, bounds.maxConnections);
  const listener = createListener(wire);
  server.on("request", listener);
  routeExpectations(server, listener);
  serveErrors(server, wire, listener);
  return server;
}

/** Stops listening. Resolves when all connections are closed. */
export async function closeServer(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve)); // closes idle connections, too
}

type Listener = (message: IncomingMessage, response: ServerResponse) => void;

function createListener(wire: Wire): Listener {
  const serve = createServe(wire);
  const nextId = createRequestIds();
  const clientOf = createClientOf(wire.service.settings.trustProxy);
  return (message, response) => {
    const version = versionOf(message);
    serve({ message, response, id: nextId(), version, client: clientOf(message) });
  };
}

/** Serves what is not simply a request: malformed messages, connections without progress, and upgrades. */
function serveErrors(server: Server, wire: Wire, listener: Listener): void {
  const { service, admission, bounds } = wire;
  for (const event of ["connection", "secureConnection"])
    server.on(event, (connection: Connection) => {
      connection[waitingInAll] = service.counts.waiting;
      admission.noteConnection();
    });
  server.on("clientError", (error, socket) => answerClientError(error, socket as Connection, service));
  const onTimeout = createTimeoutListener(bounds, admission);
  server.on("timeout", onTimeout);
  serveUpgrades(server, onTimeout, (message, response) => {
    noteWaiting(message, response);
    listener(message, response);
  });
}

/** Closes connections at once while all threads together have `max`. Each thread may exceed this by one at the same moment. */
function limitConnections(server: Server, connections: Count, max: number): void {
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

/** While the service stops, it waits at most this long for TLS handshakes in progress, in milliseconds. */
const maxHandshakeMs = 5_000;

function createNodeServer(limits: Limits, tls: KeyPair | undefined): Server {
  const options: ServerOptions = {
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: 1_000, // Node checks its timeouts only this often
    maxHeaderSize: limits.headerBytes, // includes the target
    requireHostHeader: false, // `route.ts` refuses such a request
    optimizeEmptyRequests: true, // nothing reads the stream of a request without content
    shouldUpgradeCallback: canHandOver,
  };
  if (tls === undefined) return createServer(options);
  const handshakeTimeout = Math.min(limits.headersTimeoutMs, maxHandshakeMs);
  return createSecureServer({ ...options, ...tls, handshakeTimeout, allowHalfOpen: true });
}
