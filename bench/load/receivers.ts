/**
 * Receivers of webhooks as a separate program: `receivers.ts <number>` prints a port. `GET /` there returns the ports of the
 * receivers, and `GET /figures` returns ReceiverFigures since the last time.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sayPort } from "../harness/say-port.ts";

/** The deliveries that arrived at the receivers. Times are in milliseconds. */
export interface ReceiverFigures {
  deliveries: number;
  connections: number;
  /** From the first delivery to the last. */
  durationMs: number;
  /** From the time of the change to its delivery. */
  lagP50: number;
  lagP99: number;
}

let lags: number[] = [];
let firstAt = 0;
let lastAt = 0;
let connections = 0;

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  response.writeHead(204).end();
  lastAt = performance.now();
  if (lags.length === 0) firstAt = lastAt;
  const { time } = JSON.parse(Buffer.concat(chunks).toString()) as { time: string };
  lags.push(Math.max(0, Date.now() - Date.parse(time)));
}

async function startReceiver(): Promise<number> {
  const server = createServer(receive);
  server.on("connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function takeFigures(): ReceiverFigures {
  const sorted = lags.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  const durationMs = lastAt - firstAt;
  const figures = { deliveries: lags.length, connections, durationMs, lagP50: at(0.5), lagP99: at(0.99) };
  lags = [];
  connections = 0;
  return figures;
}

const ports = await Promise.all(Array.from({ length: Number(process.argv[2]) }, startReceiver));
const control = createServer((request, response) => {
  if (request.url === "/count") response.end(String(lags.length));
  else response.end(JSON.stringify(request.url === "/figures" ? takeFigures() : ports));
});
control.listen(0, "127.0.0.1");
sayPort(control);
