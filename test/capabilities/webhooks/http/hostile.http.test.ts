/** Receivers that misbehave cost a bounded amount, and end in a failure or a success that is recorded. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { type AttemptResult, send } from "../../../../src/capabilities/webhooks/send.ts";
import { machineTime, until } from "../../../until.ts";
import { loopbackReceivers } from "./loopback.ts";

/** The bytes that a receiver writes on a connection. */
type Behave = (socket: Socket, request: number) => void;

interface Hostile {
  deliver(body?: string): Promise<AttemptResult>;
  /** Bytes that the receiver could write. */
  written(): number;
  connections(): number;
  open(): number;
}

/** A receiver of raw bytes. `request` counts the requests of one connection, from 1. */
async function hostile(t: TestContext, behave: Behave, requestMs = 60_000): Promise<Hostile> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let requests = 0;
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      if (bytes.includes("POST /hook HTTP/1.1")) behave(socket, ++requests);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receivers = loopbackReceivers();
  t.after(() => {
    receivers.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://receiver.example:${port}/hook`;
  return {
    deliver: async (body = '{"id":"1"}') => {
      const parts = { receivers, requestMs, clock: { now: machineTime } };
      const delivery = { url, headers: { "webhook-id": "1" }, body };
      return (await send(parts, delivery, new AbortController().signal)) as AttemptResult;
    },
    written: () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    connections: () => sockets.length,
    open: () => sockets.filter(({ destroyed }) => !destroyed).length,
  };
}

/** Writes the same text until the connection ends. */
function flood(socket: Socket, text: string): void {
  const chunk = text.repeat(Math.ceil(16_384 / text.length));
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk));
    if (!socket.destroyed) socket.once("drain", write);
  };
  write();
}

const noContent = "HTTP/1.1 204 No Content\r\n\r\n";

/** A receiver can write more than the service reads: what fits into the buffers between them. */
const inBuffers = 8 * 1024 * 1024;

test("one byte at a time: the time for the whole request ends it", async (t) => {
  const receiver = await hostile(
    t,
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 5);
      socket.once("close", () => clearInterval(timer));
    },
    100,
  );
  const { isDelivered, error } = await receiver.deliver();
  assert.equal(isDelivered, false);
  assert.match(String(error), /did not respond within 0.1 seconds/);
  await until("the connection is closed", () => receiver.open() === 0);
});

const failures: readonly (readonly [string, Behave, RegExp])[] = [
  [
    "endless headers",
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      flood(socket, "X-A: aaaaaaaaaaaaaaaaaaaaaaaa\r\n");
    },
    /HPE_HEADER_OVERFLOW/,
  ],
  [
    "a header of 1 MB",
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(1_000_000)}\r\n\r\n`),
    /HPE_HEADER_OVERFLOW/,
  ],
  [
    "a flood of 100 Continue",
    (socket) => flood(socket, "HTTP/1.1 100 Continue\r\n\r\n"),
    /interim responses/,
  ],
  [
    "a flood of 103 Early Hints",
    (socket) => flood(socket, "HTTP/1.1 103 Early Hints\r\nLink: <a>; rel=preload\r\n\r\n"),
    /interim responses/,
  ],
  [
    "another protocol",
    (socket) => {
      const headers = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`);
      flood(socket, "junk");
    },
    /could not be reached/,
  ],
  ["the end before a response", (socket) => void socket.end(), /ECONNRESET/],
  ["the end inside the head", (socket) => void socket.end("HTTP/1.1 200 OK\r\nX-A"), /could not be reached/],
  [
    "the end inside the body",
    (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
    /ECONNRESET/,
  ],
  ["something that is not HTTP", (socket) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n"), /HPE_/],
  [
    "two lengths",
    (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    /HPE_/,
  ],
];

for (const [what, behave, error] of failures)
  test(`${what}: the delivery fails, and the connection is closed`, async (t) => {
    const receiver = await hostile(t, behave);
    const answer = await receiver.deliver();
    assert.equal(answer.isDelivered, false);
    assert.match(String(answer.error), error);
    await until("the connection is closed", () => receiver.open() === 0);
    assert.ok(receiver.written() < inBuffers, `${receiver.written()} bytes`);
  });

test("an endless body: the service reads 64 kB, and keeps 1 KiB", async (t) => {
  const receiver = await hostile(t, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    flood(socket, `400\r\n${"x".repeat(0x400)}\r\n`);
  });
  const { isDelivered, response } = await receiver.deliver();
  assert.deepEqual([isDelivered, response], [true, "x".repeat(1_024)]);
  await until("the connection is closed", () => receiver.open() === 0);
  assert.ok(receiver.written() < inBuffers, `${receiver.written()} bytes`);
});

test("HTTP/1.0 is a response too, on a connection that is not kept", async (t) => {
  const receiver = await hostile(t, (socket) => void socket.end("HTTP/1.0 200 OK\r\n\r\nbye"));
  for (let n = 1; n <= 2; n++) {
    const { isDelivered, response } = await receiver.deliver();
    assert.deepEqual([isDelivered, response], [true, "bye"]);
    assert.equal(receiver.connections(), n);
  }
});

test("two responses to one request: the second one is not the response to the next request", async (t) => {
  const receiver = await hostile(t, (socket, request) =>
    socket.write(
      request === 1 ? `${noContent}HTTP/1.1 500 Injected\r\nContent-Length: 0\r\n\r\n` : noContent,
    ),
  );
  assert.equal((await receiver.deliver()).status, 204);
  assert.equal((await receiver.deliver()).status, 204);
  assert.equal(receiver.connections(), 2);
});

test("a second response on a connection without a request closes it", async (t) => {
  const reached: Socket[] = [];
  const receiver = await hostile(t, (socket) => {
    reached.push(socket);
    socket.write(noContent);
  });
  assert.equal((await receiver.deliver()).status, 204);
  reached[0]?.write("HTTP/1.1 500 Injected\r\nContent-Length: 0\r\n\r\n");
  await until("the connection is closed", () => receiver.open() === 0);
  assert.equal((await receiver.deliver()).status, 204);
});

test("a response before the request is read: the connection is not used again", async (t) => {
  const receiver = await hostile(t, (socket) => {
    socket.pause();
    socket.write(noContent);
  });
  const large = JSON.stringify({ id: "1", data: "x".repeat(20_000_000) });
  const { isDelivered } = await receiver.deliver(large);
  assert.equal(isDelivered, true);
  await until("the connection is closed", () => receiver.open() === 0 || receiver.connections() === 1);
  assert.equal((await receiver.deliver()).isDelivered, true);
  assert.equal(receiver.connections(), 2);
});

test("redirects are not followed, and a wait that the receiver asks for has a limit", async (t) => {
  const receiver = await hostile(t, (socket) =>
    socket.write(
      "HTTP/1.1 503 Busy\r\nLocation: http://127.0.0.1/\r\nRetry-After: 999999999\r\nContent-Length: 0\r\n\r\n",
    ),
  );
  const { status, retryAfterMs } = await receiver.deliver();
  assert.deepEqual([status, retryAfterMs], [503, 999_999_999_000]);
  assert.equal(receiver.connections(), 1);
});
