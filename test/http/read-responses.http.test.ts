import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { until } from "../until.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";
import { createPage, openUnread } from "./unread.ts";

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

async function start(t: TestContext, options: ServiceOptions): Promise<Service> {
  const service = await startService({ probe: { standstillMs: 500 }, ...options });
  t.after(() => service.stop());
  return service;
}

/** The status of a response on a new connection; `undefined` if the service closes it at once. */
async function statusOf(service: Service, path: string): Promise<number | undefined> {
  const connection = await service.connect();
  connection.write(get(path));
  const answer = await connection.answer().catch(() => undefined);
  connection.close();
  return answer?.status;
}

/** A client that has sent these bytes and does not read yet. */
async function client(t: TestContext, { port }: Service, bytes: string): Promise<Socket> {
  const socket = await openUnread(port, bytes);
  t.after(() => socket.destroy());
  return socket;
}

/** Reads the rest, and returns the number of all bytes. */
async function readAll(socket: Socket, enough = Number.POSITIVE_INFINITY): Promise<number> {
  socket.resume();
  await until("all is read", () => socket.closed || socket.bytesRead >= enough);
  return socket.bytesRead;
}

test("the memory of responses that were read slowly is free once, and not again when their connection closes", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 1_000_000 } });
  const page = await createPage(service);
  const whole = (await service.send({ path: page })).text.length;
  // A page in progress also uses the memory, but only for a moment.
  const isUsedUp = async () => {
    for (let n = 0; n < 20; n++) if ((await statusOf(service, page)) !== 503) return false;
    return true;
  };
  const first = await client(t, service, get(page).repeat(9));
  await until("the memory is used up", isUsedUp);
  assert.ok((await readAll(first, 9 * whole)) >= 9 * whole);
  first.destroy();
  await until("the memory is free", async () => (await statusOf(service, page)) === 200);
  await client(t, service, get(page).repeat(9));
  await until("the memory is used up again", isUsedUp);
});
