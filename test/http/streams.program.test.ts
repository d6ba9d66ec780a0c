/** Content that is made while it is sent, over real sockets. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createStreams, sendPieces } from "../../src/http/wire/streams.ts";
import { createAdmission } from "./admission.ts";

const total = 10_000;
const piece = "x".repeat(10_000);

/** Counts the pieces that are made, and notes when no more are wanted. */
function countedPieces() {
  const count = { made: 0, isOver: false };
  function* pieces(): Generator<string> {
    try {
      for (; count.made < total; count.made++) yield piece;
    } finally {
      count.isOver = true;
    }
  }
  return { count, pieces: pieces() };
}

async function ask(t: TestContext, serve: RequestListener): Promise<Socket> {
  const server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  t.after(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return socket;
}

test("pieces are made only as fast as the client reads, and no more once it has gone", async (t) => {
  const admission = createAdmission();
  const streams = createStreams(admission);
  const { count, pieces } = countedPieces();
  const sent = Promise.withResolvers<void>();
  const socket = await ask(t, (_request, response) => {
    sendPieces(response, { pieces, heldBytes: 5_000 }, streams).then(sent.resolve, sent.reject);
  });
  await once(socket, "readable");
  for (let made = -1; made !== count.made; ) {
    made = count.made;
    for (let i = 0; i < 1_000; i++) await turn(); // the buffers of the sockets are full
  }
  assert.ok(count.made < total / 2, `${count.made} pieces for a client that does not read`);
  assert.equal(admission.held, 5_000);
  socket.destroy();
  await sent.promise;
  assert.ok(count.isOver);
  assert.ok(count.made < total);
  assert.equal(admission.held, 0);
});

test("nothing is made for a client that has gone already", async (t) => {
  const admission = createAdmission();
  const streams = createStreams(admission);
  const { count, pieces } = countedPieces();
  const sent = Promise.withResolvers<void>();
  const socket = await ask(t, (request, response) => {
    request.socket.once("close", () =>
      sendPieces(response, { pieces, heldBytes: 1 }, streams).then(sent.resolve, sent.reject),
    );
    socket.destroy();
  });
  await sent.promise;
  assert.ok(count.made <= 1);
  assert.equal(admission.held, 0);
});

test("the connection breaks off if a piece cannot be made, so a client notices", async (t) => {
  const admission = createAdmission();
  const streams = createStreams(admission);
  function* pieces(): Generator<string> {
    yield "a part";
    throw new Error("no more");
  }
  const sent = Promise.withResolvers<void>();
  const socket = await ask(t, (_request, response) => {
    sendPieces(response, { pieces: pieces(), heldBytes: 1 }, streams).then(sent.resolve, sent.reject);
  });
  let text = "";
  socket.setEncoding("utf8").on("data", (data: string) => (text += data));
  await assert.rejects(sent.promise, /no more/);
  await once(socket, "close");
  assert.doesNotMatch(text, /\r\n0\r\n\r\n$/);
  assert.equal(admission.held, 0);
});

test("a crowd of answers makes few pieces in each turn of the event loop", async (t) => {
  const admission = createAdmission();
  const streams = createStreams(admission);
  const answers = 50;
  let made = 0;
  let most = 0;
  function* pieces(): Generator<string> {
    for (let n = 0; n < 20; n++) {
      made++;
      yield "x";
    }
  }
  const sent: Promise<void>[] = [];
  const begin = Promise.withResolvers<void>();
  const serve: RequestListener = (_request, response) => {
    sent.push(begin.promise.then(() => sendPieces(response, { pieces: pieces(), heldBytes: 1 }, streams)));
    if (sent.length === answers) begin.resolve();
  };
  const sockets = await Promise.all(Array.from({ length: answers }, () => ask(t, serve)));
  for (const socket of sockets) socket.resume();
  await begin.promise;
  for (let before = made; made < answers * 20; before = made) {
    await turn();
    most = Math.max(most, made - before);
  }
  await Promise.all(sent);
  assert.ok(most <= 4, `${most} pieces in a turn`);
});
