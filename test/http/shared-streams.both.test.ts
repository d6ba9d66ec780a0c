/** Subscribers that see the same share each read of the change log, and the text of each event. Counts work, not time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { until } from "../until.ts";
import { follow, type OpenStream } from "./follow.ts";
import { type Service, startFor } from "./service.ts";
import { watchLogReads } from "./store-spy.ts";

const path = "/api/v1/topics/_events";
const subscribers = 60;
const events = 20;

/** Counts the events whose JSON text is made in this process. */
function countEventTexts(t: TestContext): { count: number } {
  const made = { count: 0 };
  const { stringify } = JSON;
  JSON.stringify = ((value: unknown, ...more: []) => {
    if (typeof value === "object" && value !== null && "specversion" in value) made.count++;
    return stringify(value, ...more);
  }) as typeof stringify;
  t.after(() => {
    JSON.stringify = stringify;
  });
  return made;
}

async function openAll(t: TestContext, service: Service, queries: readonly string[]): Promise<OpenStream[]> {
  const streams = await Promise.all(queries.map((query) => follow(service, `${path}${query}`)));
  t.after(() => {
    for (const stream of streams) stream.close();
  });
  await until("all have begun", () => streams.every((stream) => stream.frames().length > 0));
  return streams;
}

/** Writes events one after the other; each has reached every subscriber before the next. */
async function writeTo(service: Service, streams: readonly OpenStream[]): Promise<void> {
  for (let n = 1; n <= events; n++) {
    await service.create("topics", { n });
    const end = `"data":{"id":`;
    await until(`all have event ${n}`, () => streams.every((each) => each.text().split(end).length > n));
  }
}

test("one read and one text of each event serve all subscribers that see the same", async (t) => {
  const service = await startFor(t, { heartbeatMs: 600_000 });
  await service.create("topics", { n: 0 });
  const views = ["", "?n:gte=1", "?n:lt=1000", "?n:exists=true", "?n:gt=0", "?fields=n"];
  const queries = Array.from({ length: subscribers }, (_, n) => views[n % views.length] ?? "");
  const streams = await openAll(t, service, queries);
  const reads = watchLogReads(t);
  const texts = countEventTexts(t);
  await writeTo(service, streams);
  t.diagnostic(
    `${subscribers} subscribers, ${events} events: ${reads.count} reads, ${texts.count} event texts`,
  );
  // Two texts of each event: all attributes, and only "n". On a busy machine, shared texts can expire.
  assert.ok(texts.count >= 2 * events && texts.count <= 4 * events, `${texts.count} texts`);
  // Each event is read, and then the end of the log.
  assert.ok(reads.count <= 8 * events, `${reads.count} reads`);
});

test("subscribers that catch up from the same place share the reads too", async (t) => {
  const service = await startFor(t, { heartbeatMs: 600_000 });
  for (let n = 0; n < events; n++) await service.create("topics", { n });
  const reads = watchLogReads(t);
  const texts = countEventTexts(t);
  const streams = await openAll(
    t,
    service,
    Array.from({ length: subscribers }, () => "?since=start"),
  );
  for (const stream of streams) await stream.take(events);
  t.diagnostic(
    `${subscribers} subscribers, ${events} events: ${reads.count} reads, ${texts.count} event texts`,
  );
  assert.ok(texts.count <= 6 * events, `${texts.count} texts`);
});
