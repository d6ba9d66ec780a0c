/** Lists at a time: the store agrees with a model in memory that knows every change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SortKey } from "../../../src/collection/indexes.ts";
import type { Path } from "../../../src/collection/paths.ts";
import { type Filter, matches, type StoreFilter } from "../../../src/query/filter.ts";
import { compareBy, cursorValuesOf } from "../../../src/query/sort.ts";
import { maxUndone } from "../../../src/store/core/changes-since.ts";
import type { PastQuery } from "../../../src/store/core/past-page.ts";
import { HistoryMissing } from "../../../src/store/port/change-log.ts";
import type { Change as Written } from "../../../src/store/port/commit.ts";
import { toNumber } from "../../../src/store/port/log-place.ts";
import { maxPageBytes, type Page } from "../../../src/store/port/page.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { seed } from "../../seed.ts";
import {
  at,
  commit,
  created,
  declaration,
  deleted,
  number,
  type OpenFixture,
  onStore,
  type Runs,
  rejectsWith,
  textOf,
  topic,
  updated,
} from "./fixture.ts";
import { moved } from "./queries.ts";

type Resource = Record<string, unknown>;

/** A change as the model knows it. */
interface Change {
  id: string;
  at: number;
  text: string | undefined;
}

/** The changes of one collection, in the order of their commits. */
class Model {
  readonly changes: Change[] = [];

  /** The texts by id after this many changes. */
  textsAfter(count: number): Map<string, string> {
    const texts = new Map<string, string>();
    for (const { id, text } of this.changes.slice(0, count)) {
      if (text === undefined) texts.delete(id);
      else texts.set(id, text);
    }
    return texts;
  }

  /** The text of a resource now, or before it was deleted. */
  lastText(id: string): string | undefined {
    return this.changes.findLast((change) => change.id === id && change.text !== undefined)?.text;
  }

  /** The list after this many changes. */
  list(count: number, { filter, visibleFilter, sort = [] }: Partial<PastQuery>): Resource[] {
    const fits = (each: StoreFilter | undefined, text: string) =>
      each === undefined || matches(each, JSON.parse(text));
    return [...this.textsAfter(count)]
      .filter(
        ([id, text]) =>
          fits(filter, text) && fits(visibleFilter, text) && fits(visibleFilter, this.lastText(id) ?? ""),
      )
      .map(([, text]): Resource => JSON.parse(text))
      .sort(compareBy(sort));
  }
}

const ids = ["1", "2", "3", "10", "20", "a"];
const path = fc.constantFrom<Path[]>(["n"], ["s"], ["id"]);
const condition: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    kind: fc.constant("in" as const),
    path: fc.constant(["n"] as const),
    values: fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constantFrom("gt" as const, "lte" as const),
    path: fc.constant(["n"] as const),
    values: fc.tuple(fc.nat(4)),
  }),
  fc.record({
    kind: fc.constant("startsWith" as const),
    path: fc.constant(["s"] as const),
    values: fc.tuple(fc.constantFrom("x", "y")),
  }),
  fc.record({ kind: fc.constant("exists" as const), path: fc.constant(["s"] as const), value: fc.boolean() }),
);
const filter: fc.Arbitrary<Filter> = fc.oneof(
  condition,
  condition.map((each): Filter => ({ kind: "not", filter: each })),
  fc.tuple(condition, condition).map((filters): Filter => ({ kind: "or", filters })),
);
const sort: fc.Arbitrary<SortKey[]> = fc.uniqueArray(
  fc
    .tuple(path, fc.boolean(), moved)
    .map(([of, descending, nulls]) => ({ path: of, descending, ...(of[0] !== "id" && nulls) })),
  { maxLength: 2, selector: ({ path: [name] }) => name },
);
const query = fc.record(
  {
    limit: fc.integer({ min: 1, max: 7 }),
    filter,
    visibleFilter: filter,
    sort,
    count: fc.boolean(),
    offset: fc.nat(4),
  },
  { requiredKeys: ["limit"] },
);
/** `pause` is the time since the last commit, which is negative when the clock was set back. */
const step = (pause: fc.Arbitrary<number>) =>
  fc.record({
    ids: fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1, maxLength: 3 }),
    kind: fc.constantFrom("write", "write", "write", "delete"),
    n: fc.nat(4),
    pause,
  });
const caseOf = (pause: fc.Arbitrary<number>) =>
  fc.record({
    steps: fc.array(step(pause), { maxLength: 25 }),
    queries: fc.array(fc.tuple(query, fc.nat()), { minLength: 5, maxLength: 8 }),
  });

function attributesOf(n: number, turn: number): Resource {
  const attributes: Resource = { n: n === 4 ? null : n, turn };
  if (n % 2 === 1) attributes.s = n === 1 ? "xé" : `y${turn % 3}`;
  // Large enough for the log to keep a difference.
  if (n === 2) attributes.pad = "é冬x".repeat(2_000);
  return attributes;
}

interface Run {
  store: Store;
  model: Model;
  collection: string;
  /** The time of each commit. */
  times: number[];
}

async function write(
  { store, model, collection, times }: Run,
  { ids: chosen, kind, n, pause }: { ids: string[]; kind: string; n: number; pause: number },
  turn: number,
): Promise<void> {
  const now = Math.max(0, (times.at(-1) ?? at) + pause);
  const existing = model.textsAfter(model.changes.length);
  const count = (id: string) => model.changes.filter((change) => change.id === id).length;
  const changes = chosen.flatMap((id): Written[] => {
    const key = { collection, id };
    const value = collection.includes("numbers") && id !== "a" ? Number(id) : id;
    const next = kind === "delete" ? undefined : JSON.stringify({ id: value, ...attributesOf(n, turn) });
    const last = count(id);
    if (existing.has(id)) return [{ key, expect: last, next }];
    if (next === undefined) return [];
    return [{ key, expect: "absent" as const, next, ...(last === 0 ? {} : { after: last }) }];
  });
  if (changes.length === 0) return;
  await store.commit({ changes, at: now });
  times.push(now);
  for (const { key, next } of changes) model.changes.push({ id: key.id, at: now, text: next });
}

/** The number of changes until the time. If the clock was set back, several numbers fit, and the page says which it is. */
function countAt({ changes }: Model, time: number, { sequence: end }: Page): number {
  const sequence = toNumber(end);
  const fits = (count: number) =>
    (count === 0 || (changes[count - 1]?.at ?? 0) <= time) &&
    (count === changes.length || (changes[count]?.at ?? 0) > time);
  assert.ok(fits(sequence), `${sequence} changes until ${time}`);
  return sequence;
}

async function checkQuery(
  run: Run,
  asked: Partial<Omit<PastQuery, "at">> & { limit: number },
  time: number,
): Promise<void> {
  const { store, model, collection } = run;
  const page = await store.list({ collection, ...asked, at: time });
  const count = countAt(model, time, page);
  const expected = model.list(count, asked);
  const { limit, offset = 0, sort: keys = [] } = asked;
  assert.deepEqual(
    page.items.map(({ text }) => JSON.parse(text)),
    expected.slice(offset, offset + limit),
  );
  assert.equal(page.more, expected.length > offset + limit);
  const isCounted = asked.count === true || (asked.filter === undefined && asked.visibleFilter === undefined);
  assert.equal(page.total, isCounted ? expected.length : undefined);
  const { offset: _, ...rest } = asked;
  const walked: Resource[] = [];
  for (let more = true; more; ) {
    const last = walked.at(-1);
    const after = last === undefined ? {} : { after: cursorValuesOf(last, keys) };
    const next = await store.list({ collection, ...rest, ...after, at: time });
    walked.push(...next.items.map(({ text }): Resource => JSON.parse(text)));
    more = next.more;
  }
  assert.deepEqual(walked, expected);
}

/** Single reads say the same as the list of all. */
async function checkSingle({ store, model, collection }: Run, time: number): Promise<void> {
  const page = await store.list({ collection, limit: 100, at: time });
  const texts = model.textsAfter(countAt(model, time, page));
  assert.equal(page.items.length, texts.size);
  const listed = new Map(page.items.map((item) => [item.id, item]));
  for (const id of ids) {
    const single = await store.versionAt({ collection, id }, time);
    const item = listed.get(id);
    assert.equal(item?.text, texts.get(id), `${id} at ${time}`);
    assert.deepEqual([single?.text, single?.version], [item?.text, item?.version], `${id} at ${time}`);
  }
}

/** Random writes and random lists, and half as many with a clock that was set back. */
export function pastListProperties(open: OpenFixture, { cases }: { cases: number }): void {
  for (const [title, pause, numRuns] of [
    ["as of a time is what a model says", fc.nat(2), cases],
    [
      "agrees with single reads if the clock was set back",
      fc.integer({ min: -6, max: 5 }),
      Math.ceil(cases / 2),
    ],
  ] as const) {
    test(
      `a list ${title} (HOLDFAST_TEST_SEED=${seed})`,
      onStore(open, async (store) => {
        let made = 0;
        const property = fc.asyncProperty(
          caseOf(pause),
          fc.boolean(),
          async ({ steps, queries }, isInteger) => {
            const collection = `${isInteger ? "numbers" : "topics"}${made++}`;
            const idKind = isInteger ? "integer" : "uuid";
            const indexes = made % 2 === 0 ? [] : [[{ path: ["n"] as const, descending: false }]];
            await store.migrate([declaration(collection, { idKind, indexes })]);
            const run: Run = { store, model: new Model(), collection, times: [] };
            for (const [turn, each] of steps.entries()) await write(run, each, turn);
            const [first, last] = [Math.min(at, ...run.times) - 1, Math.max(at, ...run.times) + 1];
            for (const [asked, place] of queries) {
              const time = first + (place % (last - first + 1));
              await checkQuery(run, asked, time);
              await checkSingle(run, time);
            }
          },
        );
        await fc.assert(property, { numRuns, seed, endOnFailure: true });
      }),
    );
  }
}

export function pastListsContract(open: OpenFixture, runs: Runs): void {
  pastListProperties(open, { cases: runs(24) });

  test(
    "a list as of a time is missing if the log lacks a change after it",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("a"), { n: 1 })]);
      await commit(store, [created(topic("b"), { n: 1 })], { at: at + 10 });
      await commit(store, [updated(topic("b"), 1, { n: 2 })], { at: at + 20 });
      const list = async (time: number, from = store) =>
        (await from.list({ collection: "topics", limit: 10, at: time })).items.map(({ text }) => text);
      const missing = (since: number | undefined) => (error: unknown) =>
        error instanceof HistoryMissing && error.since === since;
      assert.deepEqual(await list(at - 1), []);
      assert.deepEqual(await list(at), [textOf("a", { n: 1 })]);
      await store.erase(topic("a"));
      await assert.rejects(list(at + 30), missing(undefined));
      await commit(store, [updated(topic("b"), 2, { n: 3 })], { at: at + 40 });
      const again = await reopen();
      for (const time of [at - 1, at, at + 10, at + 39])
        await assert.rejects(list(time, again), missing(at + 40));
      assert.deepEqual(await list(at + 40, again), [textOf("b", { n: 3 })]);
      assert.deepEqual(await again.list({ collection: "nothing", limit: 10, at }), {
        ...{ items: [], more: false, total: 0, sequence: 0 },
      });
    }),
  );

  test(
    "a list as of a time is missing without a history, and in a log that starts later",
    onStore(
      open,
      async (store) => {
        await commit(store, [created(topic("a"))]);
        const list = store.list({ collection: "topics", limit: 10, at: at + 1 });
        await assert.rejects(list, (error) => error instanceof HistoryMissing && error.since === undefined);
        assert.deepEqual((await store.list({ collection: "users", limit: 10, at })).items, []);
      },
      { history: "none" },
    ),
  );

  test(
    "a list as of a time ends at its limit of bytes, and goes on after it",
    onStore(open, async (store) => {
      const pad = "é".repeat(200_000);
      const ids = Array.from({ length: 12 }, (_, n) => String(n + 1));
      for (const id of ids) await commit(store, [created(number(id), { n: 1, pad })]);
      for (const id of ids.filter((_, n) => n % 2 === 0))
        await commit(store, [updated(number(id), 1, { n: 2, pad })], { at: at + 10 });
      const found: string[] = [];
      let pages = 0;
      for (let more = true; more; pages++) {
        const after = found.length === 0 ? {} : { after: [Number(found.at(-1))] };
        const page = await store.list({ collection: "numbers", limit: 100, at: at + 5, ...after });
        const bytes = page.items.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
        assert.ok(bytes <= maxPageBytes, `${bytes} bytes`);
        for (const { id, text } of page.items) assert.equal(text, textOf(id, { n: 1, pad }));
        found.push(...page.items.map(({ id }) => id));
        more = page.more;
      }
      assert.deepEqual([found, pages], [ids, 3]);
    }),
  );

  test(
    "a list as of a time has a limit of changes to undo",
    onStore(open, async (store) => {
      const load = await store.load("numbers", { at });
      const items = Array.from({ length: maxUndone / 20 }, (_, n) => ({ id: String(n + 1), n }));
      for (let turn = 0; turn < 20; turn++)
        await load.add(
          items.map(({ id, n }) => ({
            id: String(Number(id) + turn * items.length),
            text: textOf(id, { n }),
          })),
        );
      await load.finish();
      await commit(store, [deleted(number("1"), 1)], { at: at + 10 });
      await rejectsWith("QUERY_TOO_EXPENSIVE", store.list({ collection: "numbers", limit: 2, at: 0 }));
    }),
  );
}
