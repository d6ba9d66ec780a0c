/** Streams that have nothing to send: heartbeats, and timeouts that do not end them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { heartbeatMs } from "../../src/http/events/stream.ts";
import { until } from "../until.ts";
import type { CloudEvent, OpenStream } from "./follow.ts";
import { open, path } from "./open-streams.ts";
import { startFor } from "./service.ts";

const create = "POST /api/v1/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

const linesOf = (stream: OpenStream) => stream.frames().map((frame) => Object.keys(frame));

test("a quiet stream sends its position at once, and then again and again", async (t) => {
  assert.equal(heartbeatMs, 15_000, "docs/reference/events.md says so");
  const service = await startFor(t, { heartbeatMs: 30 });
  await service.create("topics", { n: 1 });
  const stream = await open(t, service);
  await until("heartbeats have come", () => stream.frames().length >= 4);
  assert.deepEqual(linesOf(stream).slice(0, 4), [["retry", "id"], ["id"], ["id"], ["id"]]);
  assert.equal(new Set(stream.frames().map(({ id }) => id)).size, 1, "nothing has changed");
  await service.create("topics", { n: 2 });
  await stream.take(1);
  const seen = stream.frames().length;
  await until("heartbeats go on after an event", () => stream.frames().length >= seen + 2);
  const [before, , ...after] = stream.frames().slice(seen - 2);
  assert.notEqual(after.at(-1)?.id, before?.id);
  assert.equal(after.at(-1)?.id, stream.frames().find(({ data }) => data !== undefined)?.id);
});

test("between heartbeats, a quiet stream sends nothing", async (t) => {
  const service = await startFor(t, { heartbeatMs: 600_000 });
  const [quiet, marker] = [await open(t, service, "?n=7"), await open(t, service)];
  for (let n = 0; n < 5; n++) await service.create("topics", { n });
  await marker.take(5);
  await service.create("topics", { n: 7 });
  const events = await quiet.take(1);
  assert.deepEqual(
    events.map(({ data }) => data.n),
    [7],
  );
  assert.deepEqual(linesOf(quiet), [
    ["retry", "id"],
    ["id", "data"],
  ]);
});

test("the timeouts of requests do not end a stream or a page that waits", async (t) => {
  const ms = 150;
  const service = await startFor(t, {
    heartbeatMs: 600_000,
    limits: {
      handlerTimeoutMs: ms,
      headersTimeoutMs: ms,
      requestTimeoutMs: ms,
      keepAliveTimeoutMs: ms,
      queryMs: ms,
    },
    wireBounds: { stalledTimeoutMs: ms, longestStallMs: ms },
  });
  const stream = await open(t, service);
  const waiting = await service.connect();
  waiting.write(`GET ${path}?wait=60&since=now HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  // The same timeouts end other connections, twice in a row, while the stream is quiet.
  for (let round = 0; round < 2; round++) {
    const unused = await service.connect();
    const half = await service.connect();
    half.write(`${create}Content-Length: 10\r\n\r\n{`);
    const kept = await service.connect();
    kept.write("GET /api/v1/topics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert.match(await kept.untilClosed(), /^HTTP\/1\.1 200 /, "the kept connection is closed");
    assert.match(await half.untilClosed(), /^HTTP\/1\.1 408 /, "half a request is refused");
    await unused.untilClosed();
  }
  assert.equal(stream.hasEnded(), false);
  assert.equal(stream.frames().length, 1);
  await until("an event is written", async () => {
    const connection = await service.connect();
    connection.write(`${create}Content-Length: 7\r\n\r\n{"n":1}`);
    return (await connection.answer()).status === 201; // a busy machine can need longer than the timeout
  });
  await stream.take(1);
  const page = await waiting.answer();
  assert.equal(page.status, 200);
  assert.equal((JSON.parse(page.body) as CloudEvent[])[0]?.data.n, 1);
});
