/** Serves the metrics on an address of their own, without authentication. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createHostCheck, isLoopback } from "../http/protocol/hosts.ts";
import { safetyHeaders } from "../http/protocol/message.ts";
import { createServer } from "../http/protocol/node-http.ts";
import type { Log, Metrics } from "../http/service.ts";
import { hostAndPort, type MetricsAddress } from "../observe/place.ts";
import { portOf, startListening } from "./listener.ts";

/** A listener. */
export interface MetricsListener {
  /** The URL of the metrics. */
  url: string;
  /** Closes it with all its connections. */
  close(): Promise<void>;
}

/** Few programs ask, and each of them seldom. Times are in milliseconds. */
const bounds = { maxConnections: 20, headerBytes: 16_384, requestMs: 5_000, idleMs: 65_000 };

const path = "/metrics";

/** Listens. Rejects with the error of the system if the address cannot be used. */
export async function listenForMetrics(
  address: MetricsAddress,
  metrics: Metrics,
  log: Pick<Log, "error">,
): Promise<MetricsListener> {
  const isOwnHost = createHostCheck(isLoopback(address.host) ? [] : "any");
  const server = createServer({
    maxHeaderSize: bounds.headerBytes,
    headersTimeout: bounds.requestMs,
    requestTimeout: bounds.requestMs,
    keepAliveTimeout: bounds.idleMs,
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = bounds.maxConnections;
  server.on("request", (request, response) => {
    answer({ request, response, metrics, isOwnHost }).catch((err: unknown) => {
      log.error({ err }, "the metrics could not be made");
      send(response, 500, "The metrics could not be made. The log of the service has the reason.\n");
    });
  });
  await startListening(server, address);
  return {
    url: `http://${hostAndPort({ ...address, port: portOf(server) })}${path}`,
    close: () => close(server),
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  metrics: Metrics;
  isOwnHost: (host: string) => boolean;
}

async function answer({ request, response, metrics, isOwnHost }: Exchange): Promise<void> {
  const { method = "", url = "", headers } = request;
  request.resume(); // no body is of use here
  if (!hasOwnHost(headers.host, isOwnHost))
    return send(response, 421, "Use localhost or a loopback address to read the metrics.\n");
  if (url.split("?")[0] !== path) return send(response, 404, `The metrics are at ${path}.\n`);
  if (method !== "GET" && method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return send(response, 405, `${path} supports GET and HEAD.\n`);
  }
  const { type, text } = await metrics.exposition();
  send(response, 200, text, type);
}

/** A web page could otherwise read the metrics of this machine by DNS rebinding. */
function hasOwnHost(host: string | undefined, isOwnHost: Exchange["isOwnHost"]): boolean {
  try {
    return host !== undefined && isOwnHost(host);
  } catch {
    return false; // it is not a valid Host value
  }
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  type = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, {
    ...safetyHeaders,
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
  });
  response.end(response.req.method === "HEAD" ? undefined : text);
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
