/** `POST <prefix>/_rewind`: collections are again as they were at an earlier time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machineTime } from "../until.ts";
import { check } from "./check.ts";
import { type Answer, type Request, startFor, startServiceForFile } from "./service.ts";

const start = Date.UTC(2026, 0, 2, 3, 4, 5);
/** The clock of the service. */
let clock = start;

const service = await startServiceForFile({
  now: () => clock,
  openCollections: true,
  collections: {
    stamped: { timestamps: true },
    authors: {},
    books: { references: { author: { collection: "authors", onDelete: "cascade" } } },
    shelves: { references: { book: { collection: "books", onDelete: "clear" } } },
    coded: {
      schema: { type: "object", properties: { code: { type: "string", maxLength: 20 } } },
      unique: ["code"],
    },
  },
});

/** A moment: everything before it is earlier, and everything after it is later. */
function moment(): number {
  clock += 1_000;
  return clock - 500;
}

let made = 0;
const fresh = () => `things${++made}`;

interface Report {
  to: string;
  dryRun: boolean;
  before?: string;
  created: number;
  replaced: number;
  deleted: number;
  collections: { name: string; created: number; replaced: number; deleted: number }[];
  misfits: {
    first: { collection: string; id: string; pointer?: string; code: string; detail: string }[];
    more: boolean;
  };
}

const send = (content: unknown, headers: Request["headers"] = {}): Promise<Answer> =>
  service.send({ method: "POST", path: "/api/v1/_rewind", content, headers });

const max = 1_000;

/** Rewinds, and returns the report. */
async function rewind(
  to: number | string,
  collections: readonly string[],
  more: object = {},
): Promise<Report> {
  const time = typeof to === "string" ? to : new Date(to).toISOString();
  const answer = await send({ to: time, collections, max, ...more });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Report;
}

async function refused(content: object): Promise<Report> {
  const answer = await send({ max, ...content });
  check(answer, { status: 409, problem: "REWIND_REFUSED", more: ["report"] });
  return (answer.json as { report: Report }).report;
}

const get = async (path: string) => {
  const answer = await service.send({ path: `/api/v1/${path}` });
  return answer.status === 404 ? undefined : (answer.json as Record<string, unknown>);
};
const patch = (path: string, content: unknown) =>
  service.send({
    method: "PATCH",
    path: `/api/v1/${path}`,
    headers: { "Content-Type": "application/merge-patch+json" },
    content,
  });
const remove = (path: string) => service.send({ method: "DELETE", path: `/api/v1/${path}` });
const listOf = async (collection: string) =>
  (await service.send({ path: `/api/v1/${collection}?limit=1000` })).json as Record<string, unknown>[];
const versionsOf = async (path: string) =>
  (await service.send({ path: `/api/v1/${path}/_changes` })).json as {
    version: number;
    kind: string;
    group?: string;
  }[];

const timeOf = (time: number) => new Date(time).toISOString();

describe("a rewind", () => {
  test("creates, replaces and deletes with new versions, as one commit", async () => {
    const things = fresh();
    const kept = await service.create(things, { n: 1 });
    const changed = await service.create(things, { n: 2 });
    const deleted = await service.create(things, { n: 3 });
    const before = await listOf(things);
    const then = moment();
    await patch(`${things}/${changed.id}`, { n: 20 });
    await patch(`${things}/${changed.id}`, { more: true });
    await remove(`${things}/${deleted.id}`);
    const added = await service.create(things, { n: 4 });
    const now = moment();
    const answer = await send({ to: timeOf(then), collections: [things], max });
    const counts = { created: 1, replaced: 1, deleted: 1 };
    check(answer, {
      status: 200,
      headers: { "Cache-Control": "no-store" },
      json: {
        to: timeOf(then),
        dryRun: false,
        before: timeOf(clock - 1),
        ...counts,
        collections: [{ name: things, ...counts }],
        misfits: { first: [], more: false },
      },
    });
    assert.deepEqual(await listOf(things), before);
    assert.equal((await versionsOf(`${things}/${kept.id}`)).length, 1);
    const histories = await Promise.all(
      [changed, deleted, added].map(({ id }) => versionsOf(`${things}/${id}`)),
    );
    assert.deepEqual(
      histories.map(([last]) => [last?.version, last?.kind]),
      [
        [4, "updated"],
        [3, "created"],
        [2, "deleted"],
      ],
    );
    assert.equal(new Set(histories.map(([last]) => last?.group)).size, 1);
    assert.ok(now < clock);
  });

  test("can be rewound itself, to the time in its response", async () => {
    const things = fresh();
    const thing = await service.create(things, { n: 1 });
    const then = moment();
    await patch(thing.path.slice("/api/v1/".length), { n: 2 });
    await service.create(things, { n: 3 });
    const before = await listOf(things);
    // at the same millisecond as the last write
    const report = await rewind(then, [things]);
    assert.deepEqual([report.replaced, report.deleted], [1, 1]);
    assert.deepEqual(await listOf(things), [{ id: thing.id, n: 1 }]);
    moment();
    const back = await rewind(report.before ?? "", [things]);
    assert.deepEqual([back.replaced, back.created], [1, 1]);
    assert.deepEqual(await listOf(things), before);
  });

  test("changes nothing if nothing changed since, or if it changed back", async () => {
    const things = fresh();
    const { id } = await service.create(things, { n: 1 });
    const then = moment();
    assert.deepEqual((await rewind(then, [things])).before, undefined);
    await patch(`${things}/${id}`, { n: 2 });
    await patch(`${things}/${id}`, { n: 1 });
    const passing = await service.create(things, {});
    await remove(`${things}/${passing.id}`);
    const report = await rewind(then, [things]);
    assert.deepEqual([report.created, report.replaced, report.deleted, report.before], [0, 0, 0, undefined]);
    assert.equal((await versionsOf(`${things}/${id}`)).length, 3);
  });

  test("does not write in a dry run, and says what it would do", async () => {
    const things = fresh();
    const { id } = await service.create(things, { n: 1 });
    const then = moment();
    await patch(`${things}/${id}`, { n: 2 });
    const report = await rewind(then, [things], { dryRun: true });
    assert.deepEqual([report.dryRun, report.replaced, report.before], [true, 1, undefined]);
    assert.deepEqual(await listOf(things), [{ id, n: 2 }]);
    assert.equal((await versionsOf(`${things}/${id}`)).length, 2);
  });

  test("undoes a batch as a whole, and what followed from a delete", async () => {
    const author = await service.create("authors", { name: "Ann" });
    const book = await service.create("books", { author: author.id });
    const shelf = await service.create("shelves", { book: book.id });
    const then = moment();
    const operations = [
      { method: "POST", path: "/authors", body: { name: "Bo" } },
      { method: "DELETE", path: `/authors/${author.id}` },
    ];
    const batch = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    assert.equal(batch.status, 200, batch.text);
    assert.equal(await get(`books/${book.id}`), undefined);
    assert.deepEqual(await get(`shelves/${shelf.id}`), { id: shelf.id });
    const report = await rewind(then, ["authors", "books", "shelves"]);
    assert.deepEqual(
      report.collections.map(({ name, created, replaced, deleted }) => [name, created, replaced, deleted]),
      [
        ["authors", 1, 0, 1],
        ["books", 1, 0, 0],
        ["shelves", 0, 1, 0],
      ],
    );
    assert.deepEqual(await listOf("authors"), [{ id: author.id, name: "Ann" }]);
    assert.deepEqual(await get(`books/${book.id}`), { id: book.id, author: author.id });
    assert.deepEqual(await get(`shelves/${shelf.id}`), { id: shelf.id, book: book.id });
  });

  test("gives timestamps as a restore does", async () => {
    const { id, body } = await service.create("stamped", { n: 1 });
    const gone = await service.create("stamped", { n: 2 });
    const then = moment();
    await patch(`stamped/${id}`, { n: 2 });
    await remove(`stamped/${gone.id}`);
    moment();
    await rewind(then, ["stamped"]);
    const { createdAt } = body;
    assert.deepEqual(await get(`stamped/${id}`), { id, n: 1, createdAt, updatedAt: timeOf(clock) });
    assert.deepEqual(await get(`stamped/${gone.id}`), { ...gone.body, updatedAt: timeOf(clock) });
  });

  test("leaves alone what differs only in its timestamps", async () => {
    const { id } = await service.create("stamped", { n: 7 });
    const then = moment();
    await patch(`stamped/${id}`, { n: 8 });
    moment();
    await patch(`stamped/${id}`, { n: 7 });
    const report = await rewind(then, ["stamped"]);
    assert.equal(report.replaced, 0);
  });

  test("goes back to every collection without a list of them", async (t) => {
    const other = await startFor(t, { now: () => clock });
    await other.create("topics", { n: 1 });
    const then = moment();
    await other.create("topics", { n: 2 });
    await other.create("users", { n: 3 });
    const answer = await other.send({
      method: "POST",
      path: "/api/v1/_rewind",
      content: { to: then, max },
    });
    const { deleted, collections } = answer.json as Report;
    assert.deepEqual([deleted, collections.map(({ name }) => name)], [2, ["topics", "users"]]);
  });

  test("takes an Idempotency-Key", async () => {
    const things = fresh();
    const { id } = await service.create(things, { n: 1 });
    const then = moment();
    await patch(`${things}/${id}`, { n: 2 });
    const headers = { "Idempotency-Key": "rewind-once" };
    const content = { to: timeOf(then), collections: [things], max };
    const first = await send(content, headers);
    await patch(`${things}/${id}`, { n: 3 });
    const second = await send(content, headers);
    assert.deepEqual(second.json, first.json);
    assert.equal(second.headers["idempotent-replayed"], "true");
    assert.deepEqual(await get(`${things}/${id}`), { id, n: 3 });
  });

  test("restores attributes that clients cannot set or see", async (t) => {
    const seeded = await startFor(t, {
      now: () => clock,
      collections: {
        guarded: {
          schema: {
            type: "object",
            properties: {
              state: { type: "string", readOnly: true },
              secret: { type: "string", writeOnly: true },
            },
          },
        },
      },
      seeds: { guarded: [{ id: "0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6", state: "new", secret: "a" }] },
    });
    clock = Math.max(clock, machineTime());
    const then = moment();
    const path = "/api/v1/guarded/0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6";
    await seeded.send({ method: "DELETE", path });
    const answer = await seeded.send({
      method: "POST",
      path: "/api/v1/_rewind",
      content: { to: then, max },
    });
    assert.equal((answer.json as Report).created, 1, answer.text);
    const { json } = await seeded.send({ path });
    assert.equal((json as { state: string }).state, "new");
  });
});

describe("a rewind is refused", () => {
  test("with everything that does not fit: unique values and references", async () => {
    const first = await service.create("coded", { code: "a" });
    const then = moment();
    await patch(`coded/${first.id}`, { code: "b" });
    const author = await service.create("authors", { name: "Cy" });
    const book = await service.create("books", { author: author.id });
    const later = moment();
    await remove(`books/${book.id}`);
    await remove(`authors/${author.id}`);
    // The author exists no longer, and only the books go back.
    const report = await refused({ to: timeOf(later), collections: ["books"] });
    assert.deepEqual(report.misfits, {
      first: [
        {
          collection: "books",
          id: book.id,
          pointer: "#/author",
          code: "reference",
          detail: "is not the id of an existing resource",
        },
      ],
      more: false,
    });
    assert.equal(await get(`books/${book.id}`), undefined);
    const dry = await rewind(later, ["books"], { dryRun: true });
    assert.deepEqual([dry.created, dry.misfits.first.length], [1, 1]);
    assert.equal((await rewind(later, ["authors", "books"])).created, 2);
    assert.equal((await rewind(then, ["coded"])).replaced, 1);
  });

  test("if another collection refers to a resource that it would delete, and lists them", async () => {
    const then = moment();
    const authors = await Promise.all([1, 2].map((n) => service.create("authors", { name: `D${n}` })));
    const books = await Promise.all(authors.map(({ id }) => service.create("books", { author: id })));
    const report = await refused({ to: timeOf(then), collections: ["authors"] });
    assert.deepEqual(
      report.misfits.first.map(({ collection, id, code }) => [collection, id, code]).sort(),
      authors.map(({ id }) => ["authors", id, "referenced"]).sort(),
    );
    for (const { id } of books)
      assert.ok(report.misfits.first.some(({ detail }) => detail.includes(`books/${id}`)));
    for (const { id } of books) assert.ok(await get(`books/${id}`));
    assert.equal((await rewind(then, ["authors", "books"])).deleted, 4);
  });

  test("if more resources would change than its max, and the max in the message works", async () => {
    const things = fresh();
    await service.create(things, { n: 0 });
    const then = moment();
    for (const n of [1, 2, 3]) await service.create(things, { n });
    const content = { to: timeOf(then), collections: [things] };
    for (const dryRun of [true, false]) {
      const answer = await send({ ...content, max: 2, dryRun });
      check(answer, { status: 409, problem: "TOO_MANY_MATCHES", more: ["matched"] });
      const { detail, matched } = answer.json as { detail: string; matched: number };
      assert.equal(
        detail,
        '3 resources would change, but "max" is 2, so nothing was rewound. Send "max":3, or a later time.',
      );
      assert.equal(matched, 3);
    }
    assert.equal((await listOf(things)).length, 4);
    assert.equal((await rewind(then, [things], { max: 3 })).deleted, 3);
  });

  test("to a time before the first change, and the time in the message works", async () => {
    const [early, late] = [fresh(), fresh()];
    clock += 1_000;
    const first = clock;
    const kept = await service.create(early, { n: 1 });
    const then = moment();
    await service.create(late, { n: 2 });
    for (const dryRun of [true, false]) {
      const content = { to: "2020-01-01", collections: [late, early], max, dryRun };
      check(await send(content), {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [
          {
            pointer: "#/to",
            code: "noHistory",
            detail: `"to" is before the history of ${early}, which begins at ${timeOf(first)}. Send a later time, or restore a backup`,
          },
        ],
      });
    }
    check(await send({ to: timeOf(then), collections: [late], max }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
    assert.equal((await listOf(late)).length, 1);
    assert.equal((await rewind(first, [late, early])).deleted, 1);
    assert.deepEqual([await listOf(late), await listOf(early)], [[], [kept.body]]);
  });

  test("if its content is not understood", async () => {
    const faults: [unknown, string, string][] = [
      [{ max }, "#/to", "required"],
      [{ max, to: "yesterday" }, "#/to", "dateValue"],
      [{ max, to: "2026-01-01T10:00" }, "#/to", "dateValue"],
      [{ max, to: timeOf(clock + 60_000) }, "#/to", "to"],
      [{ max, to: timeOf(clock), collections: [] }, "#/collections", "type"],
      [{ max, to: timeOf(clock), collections: ["autors"] }, "#/collections/0", "collection"],
      [{ max, to: timeOf(clock), dryRun: "yes" }, "#/dryRun", "value"],
      [{ max, to: timeOf(clock), collection: "books" }, "#/collection", "unknownMember"],
      [{ to: timeOf(clock) }, "#/max", "required"],
      [{ to: timeOf(clock), dryRun: true }, "#/max", "required"],
      [{ to: timeOf(clock), max: 0 }, "#/max", "max"],
      [{ to: timeOf(clock), max: "5" }, "#/max", "max"],
      [{ to: timeOf(clock), max: 100_001 }, "#/max", "max"],
    ];
    for (const [content, pointer, code] of faults)
      check(await send(content), {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "body", pointer, code }],
      });
    check(await send([]), { status: 400, problem: "BODY_NOT_OBJECT" });
    check(await send({ to: timeOf(clock), max }, { "If-Match": '"1"' }), {
      status: 400,
      problem: "INVALID_PARAMETER",
    });
  });
});
