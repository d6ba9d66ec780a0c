/** A rewind of many resources while others read and write: nobody waits for long, and no write is lost. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { machineTime, nextMillisecond, until } from "../until.ts";
import { eventsOf, linkOf } from "./follow.ts";
import { type Service, type ServiceOptions, startFor } from "./service.ts";

/** `npm run prove -- rewind` has more. */
const resources = process.env.HOLDFAST_TEST_REWIND_RUNS === undefined ? 5_000 : 10_000;

/** Its end throws if the event loop stood still, or if the memory exceeded its limit. */
const start = (t: TestContext, options: ServiceOptions = {}) =>
  startFor(t, { limits: { rewindBytes: 67_108_864 }, ...options });

/** A moment: everything before it is earlier, and everything after it is later. */
async function moment(): Promise<number> {
  const now = machineTime();
  await nextMillisecond();
  return now;
}

const nameOf = (n: number) => `r${String(n).padStart(5, "0")}`;

/** Imports resources of about one kilobyte, 1,000 at a time. Their ids have the numbers after `first`. */
async function fill(service: Service, collection: string, first = 0): Promise<void> {
  for (let from = 0; from < resources; from += 1_000) {
    const lines = Array.from({ length: 1_000 }, (_, n) =>
      JSON.stringify({ id: nameOf(first + from + n), n: 0, text: "x".repeat(950) }),
    );
    const { status, text } = await service.send({
      method: "POST",
      path: `/api/v1/${collection}/_import`,
      headers: { "Content-Type": "application/x-ndjson" },
      body: lines.join("\n"),
    });
    assert.equal(status, 200, text);
  }
}

/** Changes every resource of the import, 1,000 at a time. */
async function changeAll(service: Service, collection: string, change: object): Promise<void> {
  for (let from = 0; from < resources; from += 1_000) {
    const filter = { id: { gte: nameOf(from), lt: nameOf(from + 1_000) } };
    const { status, text } = await service.send({
      method: "POST",
      path: `/api/v1/${collection}/_bulk`,
      content: { filter, max: 1_000, ...change },
    });
    assert.equal(status, 200, text);
  }
}

const rewindTo = (service: Service, to: number, collections: readonly string[]) =>
  service.send({ method: "POST", path: "/api/v1/_rewind", content: { to, collections, max: 100_000 } });

describe("a rewind of many resources", () => {
  test("lets others read in between, and leaves every confirmed write either undone or in place", async (t) => {
    const service = await start(t);
    await fill(service, "things");
    const own = Array.from({ length: 8 }, (_, n) => nameOf(n));
    const then = await moment();
    await changeAll(service, "things", { update: { n: { $increment: 1 } } });
    let isOver = false;
    let reads = 0;
    let longReads = 0;
    const created = new Set<string>();
    const writers = own.map(async (id, writer) => {
      for (let n = 0; !isOver; n++) {
        const patched = await service.send({
          method: "PATCH",
          path: `/api/v1/things/${id}`,
          headers: { "Content-Type": "application/merge-patch+json" },
          content: { by: writer, turn: n },
        });
        assert.equal(patched.status, 200, patched.text);
        created.add((await service.create("things", { by: writer, turn: n })).id);
      }
    });
    const reader = (async () => {
      while (!isOver) {
        const { status } = await service.send({ path: `/api/v1/things/${nameOf(resources - 1_000)}` });
        assert.equal(status, 200);
        reads++;
        if (isOver) longReads++;
      }
    })();
    await until("every writer has created something", () => created.size >= own.length);
    const answer = await rewindTo(service, then, ["things"]);
    assert.equal(answer.status, 200, answer.text);
    const { replaced, deleted } = answer.json as { replaced: number; deleted: number };
    assert.equal(replaced, resources);
    // Some writes come after it too.
    for (let n = 0; n < 3; n++) await service.create("things", { after: n });
    isOver = true;
    await Promise.all([...writers, reader]);
    assert.ok(reads > 3, `${reads} reads`);
    assert.ok(longReads <= 1);
    await requireOrder(service, { created, deleted, ids: own });
  });

  test("brings deleted resources back, beside a collection whose writes wait only for it", async (t) => {
    const service = await start(t);
    await fill(service, "things");
    const then = await moment();
    await changeAll(service, "things", { delete: true });
    const [answer, ...others] = await Promise.all([
      rewindTo(service, then, ["things"]),
      ...Array.from({ length: 20 }, (_, n) => service.create("others", { n })),
    ]);
    assert.equal((answer.json as { created: number }).created, resources, answer.text);
    assert.equal(others.length, 20);
    const { headers } = await service.send({ path: "/api/v1/things?limit=1&count=exact" });
    assert.equal(headers["x-total-count"], String(resources));
  });

  test("deletes resources that others can refer to", async (t) => {
    const service = await start(t, {
      collections: {
        things: {},
        parts: { references: { thing: { collection: "things", onDelete: "cascade" } } },
      },
    });
    await service.create("things", {});
    const then = await moment();
    for (let times = 0; times < 3; times++) await fill(service, "things", times * resources);
    const answer = await rewindTo(service, then, ["things"]);
    assert.equal((answer.json as { deleted: number }).deleted, 3 * resources, answer.text);
  });
});

/** An event of the log. */
interface Logged {
  type: string;
  subject: string;
  group?: string;
}

/** Reads the whole log: what the rewind found was undone by it, and what came later is in place. */
async function requireOrder(
  service: Service,
  { created, deleted, ids }: { created: ReadonlySet<string>; deleted: number; ids: readonly string[] },
): Promise<void> {
  const events: Logged[] = [];
  for (let path = "/api/v1/things/_events?since=start&limit=1000"; ; ) {
    const page = await service.send({ path });
    const some = eventsOf(page) as unknown as Logged[];
    if (some.length === 0) break;
    events.push(...some);
    path = linkOf(page, "next");
  }
  const group = events.find(({ type }) => type.endsWith(".deleted"))?.group;
  const first = events.findIndex((event) => event.group === group);
  const subjects = (isWanted: (event: Logged, n: number) => boolean) =>
    new Set(events.filter(isWanted).map(({ subject }) => subject));
  const undone = subjects((event) => event.group === group);
  const after = subjects((event, n) => n > first && event.group !== group);
  assert.equal([...created].filter((id) => undone.has(id)).length, deleted);
  for (const id of created) {
    const { status } = await service.send({ path: `/api/v1/things/${id}` });
    assert.equal(status, undone.has(id) ? 404 : 200, id);
    assert.ok(undone.has(id) || after.has(id), `${id} is earlier than the rewind, and was not undone`);
  }
  for (const id of ids) {
    const { json } = await service.send({ path: `/api/v1/things/${id}` });
    const { n, turn } = json as { n: number; turn?: number };
    assert.ok(undone.has(id));
    assert.equal(n, 0, "the change before the rewind is undone");
    assert.equal(turn === undefined, !after.has(id), `${id}: a write after the rewind is in place`);
  }
}
