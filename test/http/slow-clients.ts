/** Clients that do not read yet. */
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { until } from "../until.ts";
import { type Service, type ServiceOptions, startFor } from "./service.ts";
import { openUnread } from "./unread.ts";

export const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

/** Starts a service for a test. The test fails if the event loop stands still for 500 ms. */
export const start = (t: TestContext, options: ServiceOptions) =>
  startFor(t, { probe: { standstillMs: 500 }, ...options });

/** The status of a response on a new connection; `undefined` if the service closes it at once. */
export async function statusOf(service: Service, path: string): Promise<number | undefined> {
  const connection = await service.connect();
  connection.write(get(path));
  const answer = await connection.answer().catch(() => undefined);
  connection.close();
  return answer?.status;
}

/** A client that has sent these bytes and does not read yet. */
export async function client(t: TestContext, { port }: Service, bytes: string): Promise<Socket> {
  const socket = await openUnread(port, bytes);
  t.after(() => socket.destroy());
  return socket;
}

/** Reads the rest, and returns the number of all bytes. */
export async function readAll(socket: Socket, enough = Number.POSITIVE_INFINITY): Promise<number> {
  socket.resume();
  await until("all is read", () => socket.closed || socket.bytesRead >= enough);
  return socket.bytesRead;
}
