/** Walks by cursor, and totals, while other clients write. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Index, SortKey } from "../../../src/collection/indexes.ts";
import { type Filter, matches } from "../../../src/query/filter.ts";
import { compareBy, cursorValuesOf } from "../../../src/query/sort.ts";
import type { LoggedChange } from "../../../src/store/port/change-log.ts";
import type { Change } from "../../../src/store/port/commit.ts";
import { isAfter, type LogPlace, logStart } from "../../../src/store/port/log-place.ts";
import type { Page } from "../../../src/store/port/page.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { nearDates } from "../../instants.ts";
import { at, declaration, type OpenFixture, onStore, type Runs } from "./fixture.ts";
import { moved } from "./queries.ts";

type Resource = Record<string, unknown> & { id: string };

/** The attributes that no client changes. Many are equal, so that the id decides the order. */
const kept = fc.record({
  s: fc.constantFrom("", "a", "ab", "b", "\u{10000}", "\uffff", "x".repeat(130)),
  n: fc.constantFrom(0, 1, -1, 0.5),
  date: nearDates,
  mixed: fc.oneof(fc.boolean(), fc.constant(null), fc.constantFrom(1, "1"), fc.constant([]), fc.constant({})),
});
const key: fc.Arbitrary<SortKey> = fc
  .tuple(
    fc.constantFrom<SortKey["path"]>(["s"], ["n"], ["mixed"], ["date"], ["date"], ["id"]),
    fc.boolean(),
    moved,
  )
  .map(([path, descending, nulls]) => ({
    path,
    descending,
    ...(path[0] === "date" && { as: "date" as const }),
    ...(path[0] !== "id" && nulls),
  }));
const keys = { selector: ({ path }: SortKey) => path[0] };
const sort = fc.uniqueArray(key, { ...keys, maxLength: 3 });
const index = fc.uniqueArray(
  key.filter(({ path }) => path[0] !== "id"),
  { ...keys, minLength: 1 },
);
const filter: fc.Arbitrary<Filter | undefined> = fc.constantFrom<(Filter | undefined)[]>(
  undefined,
  undefined,
  { kind: "in", path: ["s"], values: ["a"] },
  { kind: "gte", path: ["n"], values: [0] },
  { kind: "not", filter: { kind: "in", path: ["mixed"], values: [null] } },
);

interface World {
  store: Store;
  collection: string;
  /** The version of each existing resource. */
  versions: Map<string, number>;
}

function textOf(resource: Resource): string {
  return JSON.stringify(resource);
}

async function write(
  { store, collection, versions }: World,
  id: string,
  next: Resource | undefined,
): Promise<void> {
  const change: Change = {
    key: { collection, id },
    expect: versions.get(id) ?? "absent",
    next: next === undefined ? undefined : textOf(next),
  };
  const [committed] = await store.commit({ changes: [change], at });
  if (next === undefined) versions.delete(id);
  else versions.set(id, committed?.version ?? 0);
}

/** Creates, changes and deletes its own resources, and changes attributes of the others that no list reads. */
async function disturb(
  world: World,
  staying: readonly Resource[],
  own: string,
  isOver: () => boolean,
): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const id = `${own}-${n % 5}`;
    const shown = { id, s: ["a", "b"][n % 2], n: n % 3, mixed: n % 4 === 0 ? null : `${n}` };
    await write(world, id, n % 7 === 6 && world.versions.has(id) ? undefined : shown);
    const touched = staying[n % staying.length];
    if (own === "x" && touched !== undefined) await write(world, touched.id, { ...touched, touched: n });
  }
}

async function walk(
  { store, collection }: World,
  asked: { sort: readonly SortKey[]; filter: Filter | undefined; limit: number },
): Promise<Page[]> {
  const pages: Page[] = [];
  for (;;) {
    const last = pages.at(-1)?.items.at(-1);
    const position =
      last === undefined ? undefined : cursorValuesOf(JSON.parse(last.text) as Resource, asked.sort);
    const page = await store.list({
      collection,
      limit: asked.limit,
      sort: asked.sort,
      ...(asked.filter && { filter: asked.filter }),
      ...(position && { after: position }),
    });
    pages.push(page);
    if (!page.more) return pages;
  }
}

/** The number of resources at a place, according to the change log. */
function countAt(log: readonly LoggedChange[], end: LogPlace): number {
  const before = log.filter((change) => !isAfter(change.sequence, end));
  const count = (kind: LoggedChange["kind"]) => before.filter((change) => change.kind === kind).length;
  return count("created") - count("deleted");
}

async function makeWorld(
  store: Store,
  values: readonly Record<string, unknown>[],
  indexes: readonly Index[],
) {
  const collection = `walk${store.collections().size}`;
  await store.migrate([declaration(collection, { indexes })]);
  const world: World = { store, collection, versions: new Map() };
  const staying = values.map((each, n): Resource => ({ id: `${"xyz"[n % 3]}${n}`, ...each }));
  await Promise.all(staying.map((each) => write(world, each.id, each)));
  return { world, staying };
}

/** `npm run prove -- lists` does more. */
export function walksContract(open: OpenFixture, runs: Runs): void {
  test(
    "a walk by cursor sees what stays exactly once and in order, and totals are exact, while others write",
    onStore(open, async (store) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(kept, { minLength: 5, maxLength: 25 }),
          fc.uniqueArray(index, { maxLength: 2, selector: (each: Index) => JSON.stringify(each) }),
          sort,
          filter,
          fc.integer({ min: 1, max: 6 }),
          async (values, indexes, order, narrowed, limit) => {
            const { world, staying } = await makeWorld(store, values, indexes);
            let isOver = false;
            const others = ["w", "x", "zz"].map((own) => disturb(world, staying, own, () => isOver));
            const pages = await walk(world, { sort: order, filter: narrowed, limit });
            isOver = true;
            await Promise.all(others);
            const seen = pages.flatMap(({ items }) => items.map(({ id }) => id));
            const expected = staying.filter((each) => narrowed === undefined || matches(narrowed, each));
            const stays = new Set(staying.map(({ id }) => id));
            assert.deepEqual(
              seen.filter((id) => stays.has(id)),
              expected.sort(compareBy(order)).map(({ id }) => id),
            );
            const log = (await store.changesAfter(world.collection, logStart, 100_000)).changes;
            for (const { total, sequence } of narrowed === undefined ? pages : []) {
              assert.equal(total, countAt(log, sequence));
            }
          },
        ),
        { numRuns: runs(20, "HOLDFAST_TEST_QUERY_RUNS") },
      );
    }),
  );
}
