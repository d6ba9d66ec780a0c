/** Lists with filters, sorts and pages: the store agrees with a model in memory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { foldText } from "../../../src/collection/folding.ts";
import type { Index, SortKey } from "../../../src/collection/indexes.ts";
import { itemName, type Path } from "../../../src/collection/paths.ts";
import { comparedKeyOf } from "../../../src/collection/types/declared-types.ts";
import type { Condition, Scalar } from "../../../src/query/conditions.ts";
import { type Filter, matches, type Operand, type OwnLeaf, opposites } from "../../../src/query/filter.ts";
import { compareBy, cursorValuesOf, ownSort } from "../../../src/query/sort.ts";
import type { ListQuery } from "../../../src/store/port/page.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { almostExact, nearExact } from "../../exact-numbers.ts";
import { nearDates } from "../../instants.ts";
import { seed } from "../../seed.ts";
import { declaration, type OpenFixture, onStore, type Runs } from "./fixture.ts";

type Resource = Record<string, unknown>;

/** Lists of the generator: many share names and values, or nothing would ever match. */
const names = ["a", "a", "a", "b", 'a"b', "c\\d", "ä", "%", "x y", "__proto__"] as const;
const name = fc.constantFrom(...names);
const path: fc.Arbitrary<Path> = fc.oneof(
  { weight: 8, arbitrary: name.map((first): Path => [first]) },
  { weight: 3, arbitrary: fc.tuple(name, name).map(([first, second]): Path => [first, second]) },
  { weight: 1, arbitrary: fc.constant<Path>(["id"]) },
);

const long = "long ".repeat(25);
const texts = [
  "",
  "a",
  "A",
  "ab",
  "aB%",
  "a_b",
  "b",
  "5",
  "true",
  "null",
  "Ä",
  "ä",
  "\u{10000}",
  "\uffff",
  "[1]",
  '"',
  ...[
    "Straße",
    "STRASSE",
    "s",
    "é",
    "e\u0301",
    "Łódź",
    "lo",
    "ﬁ",
    "ＡB",
    "İ",
    "ΟΣ",
    "ος",
    "a\u00adb",
    "\u00ad",
  ],
  ...[
    "item 9",
    "Item 10",
    "item 010",
    "item 9b",
    "ITEM 9a",
    "item ９",
    "007",
    "7",
    "a\u0001",
    "a\u0002b",
    `${long}9`,
    `${long}10`,
  ],
  "9".repeat(128),
  "ﷺ".repeat(130),
  ...["が", "か\u3099", "ｶﾞ", "か", "한", "\u1112\u1161\u11ab", "하", "й", "㎏", "\u0e01\u0e49\u0e38"],
];
const text = fc
  .oneof(
    { weight: 5, arbitrary: fc.constantFrom(...texts) },
    { weight: 2, arbitrary: fc.constantFrom(`${long}123`, `${long}1234`, `${long}124`) },
    { weight: 3, arbitrary: fc.string({ maxLength: 4, unit: "grapheme" }) },
  )
  .map((each) => each.replaceAll("\0", ""));
const date = fc.oneof(
  nearDates,
  fc.constantFrom("2025-12-31T24:00:00Z", "2026-02-30", "2025-12-31", 8.64e15 + 2),
);
const number = fc.oneof(
  fc.constantFrom(0, 1, 5, -1, 0.1, 0.1 + 0.2, 1e300, 5e-324, 2 ** 53 - 1, -(2 ** 53) + 1),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => Math.abs(n) < 2 ** 53),
);
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  text,
  date,
  fc.oneof({ weight: 4, arbitrary: nearExact }, fc.constantFrom(...almostExact)),
  number.map((n) => (n === 0 ? 0 : n)),
  fc.boolean(),
  fc.constant(null),
);
const object = <T>(value: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(name, value), { maxLength: 3 }).map((members) => {
    const made: Record<string, unknown> = {};
    for (const [key, each] of members)
      Object.defineProperty(made, key, { value: each, enumerable: true, writable: true, configurable: true });
    return made;
  });
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 3 }) },
  {
    weight: 4,
    arbitrary: fc.array(fc.oneof(scalar, object(scalar), object(scalar), object(fc.array(object(scalar)))), {
      maxLength: 3,
    }),
  },
  { weight: 3, arbitrary: object(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }))) },
);
const resources = fc.array(object(value), { minLength: 1, maxLength: 12 });

/** The values of a condition that compares what values mean, and their kind. */
const meant = (min: number) =>
  fc.constantFrom("date" as const, "exact" as const, "time" as const).chain((as) =>
    fc.record({
      as: fc.constant(as),
      values: fc.array(
        as === "exact"
          ? nearExact.map((each) => comparedKeyOf(each, as) ?? "")
          : nearDates.map((each) => comparedKeyOf(each, "date") ?? ""),
        { minLength: min, maxLength: 2 },
      ),
    }),
  );
/** How an attribute is compared. */
const as = fc.constantFrom({}, {}, { as: "date" as const }, { as: "exact" as const });
const ownPath = path.filter(([first]) => first !== "id");

const condition: fc.Arbitrary<OwnLeaf> = fc.oneof(
  fc
    .tuple(fc.constantFrom("in" as const, "contains" as const), ownPath, meant(0))
    .map(([kind, of, values]) => ({ kind, path: of, ...values })),
  fc
    .tuple(fc.constantFrom("gt" as const, "gte" as const, "lt" as const, "lte" as const), ownPath, meant(1))
    .map(([kind, of, values]) => ({ kind, path: of, ...values })),
  fc.record({ kind: fc.constant("in" as const), path, values: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({
    kind: fc.constantFrom("gt" as const, "gte" as const, "lt" as const, "lte" as const),
    path,
    values: fc.array(fc.oneof(text, number), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("contains" as const), path, values: fc.array(scalar, { maxLength: 2 }) }),
  fc.record({
    kind: fc.constantFrom("startsWith" as const, "endsWith" as const),
    path,
    values: fc.array(text, { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constantFrom("ini" as const, "containsi" as const, "startsWithi" as const),
    path,
    values: fc.array(text.map(foldText), { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("exists" as const), path, value: fc.boolean() }),
  fc
    .tuple(fc.constantFrom(...(Object.keys(opposites) as (keyof typeof opposites)[])), path, path, as)
    .map(([operator, left, right, meaning]) => ({
      kind: "compares" as const,
      operator,
      left: { path: left },
      right: { path: right },
      ...meaning,
    })),
);
/** A filter about an item of an array: its paths start with the item. */
const inItem = (filter: Filter): Filter => {
  if ("filters" in filter) return { ...filter, filters: filter.filters.map(inItem) };
  if (filter.kind === "not") return { kind: "not", filter: inItem(filter.filter) };
  if (filter.kind !== "compares") return { ...filter, path: [itemName, ...filter.path] };
  const inOperand = ({ path }: Operand<never>) => ({ path: [itemName, ...path] as const });
  return { ...filter, left: inOperand(filter.left), right: inOperand(filter.right) };
};

const filter = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: condition },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("any" as const),
        path: ownPath,
        filter: tie("filter").map(inItem),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constantFrom("and" as const, "or" as const),
        filters: fc.array(tie("filter"), { maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("not" as const), filter: tie("filter") }) },
  ),
})).filter;

/** Where the nulls of a sort key are. */
export const moved = fc.constantFrom({}, {}, { movesNulls: true as const });
const sortKey: fc.Arbitrary<SortKey> = fc
  .tuple(path, fc.boolean(), fc.oneof(as, fc.constant({ as: "natural" as const })), moved)
  .map(([of, descending, compared, nulls]) => ({
    path: of,
    descending,
    ...(of[0] !== "id" && { ...compared, ...nulls }),
  }));
const distinct = { selector: (key: SortKey) => key.path.join("."), maxLength: 3 };
const sort = fc.uniqueArray(sortKey, distinct);
const index = fc
  .uniqueArray(
    sortKey.filter((key) => key.path[0] !== "id"),
    { ...distinct, minLength: 1 },
  )
  .filter((keys) => keys.length + keys.filter(({ as }) => as === "natural").length <= 5);
const indexes = fc.uniqueArray(index, { maxLength: 3, selector: (each: Index) => JSON.stringify(each) });

/** The collection, emptied by being another one each time. */
async function fill(
  store: Store,
  all: readonly Resource[],
  declared: readonly Index[],
  idKind: "uuid" | "integer",
) {
  const collection = `list${store.collections().size}`;
  await store.migrate([declaration(collection, { idKind, indexes: declared })]);
  const load = await store.load(collection);
  const stored = all.map((attributes, n): Resource => {
    const id = idKind === "uuid" ? `id-${"bca"[n % 3]}${n}` : (n * 7) % 12;
    return { id, ...attributes };
  });
  await load.add(stored.map((each) => ({ id: String(each.id), text: JSON.stringify(each) })));
  await load.finish();
  return { collection, stored };
}

async function walk(store: Store, query: ListQuery): Promise<Resource[]> {
  const seen: Resource[] = [];
  for (let pages = 0; pages < 100; pages++) {
    const last = seen.at(-1);
    const after = last === undefined ? {} : { after: cursorValuesOf(last, ownSort(query.sort ?? [])) };
    const { items, more } = await store.list({ ...query, ...after });
    seen.push(...items.map((item) => JSON.parse(item.text) as Resource));
    if (!more) return seen;
  }
  throw new Error("the walk does not end");
}

/** The queries of one collection. */
const question = fc.record({
  filter: fc.option(filter, { nil: undefined }),
  sort,
  limit: fc.integer({ min: 1, max: 5 }),
  offset: fc.integer({ min: 0, max: 3 }),
});
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

const ids = (list: readonly Resource[]) => list.map(({ id }) => id);

async function ask(
  store: Store,
  collection: string,
  stored: readonly Resource[],
  asked: Question,
): Promise<void> {
  const { filter: narrowed, sort: order, limit, offset } = asked;
  const fitting = stored.filter((each) => narrowed === undefined || matches(narrowed, each));
  const expected = fitting.sort(compareBy(order));
  const query = { collection, limit, sort: order, ...(narrowed && { filter: narrowed }) };
  assert.deepEqual(ids(await walk(store, query)), ids(expected), "by cursor");
  const page = await store.list({ ...query, offset, count: true });
  const resourcesOf = page.items.map((item) => JSON.parse(item.text) as Resource);
  assert.deepEqual(resourcesOf, expected.slice(offset, offset + limit), "by offset");
  assert.equal(page.total, expected.length);
  assert.equal(page.more, expected.length > offset + limit);
}

/** The number of queries for each collection. */
const questions = 10;

/** A new collection takes longer in a store that has many, so that each store gets only some of them. */
const runsPerStore = 15;

/** A new collection in the store, and questions to it. */
function listsEqual(store: Store) {
  return fc.asyncProperty(
    resources,
    indexes,
    fc.constantFrom("uuid" as const, "integer" as const),
    fc.array(question, { minLength: questions, maxLength: questions }),
    async (all, declared, idKind, asked) => {
      const { collection, stored } = await fill(store, all, declared, idKind);
      for (const each of asked) await ask(store, collection, stored, each);
    },
  );
}

export function queriesContract(open: OpenFixture, runs: Runs): void {
  test("a list equals a reading of everything in memory, for random resources, filters, sorts, indexes and pages", async () => {
    const collections = runs(60, "HOLDFAST_TEST_QUERY_RUNS");
    console.log(`HOLDFAST_TEST_SEED=${seed}, ${collections * questions} lists`);
    for (let done = 0; done < collections; done += runsPerStore)
      await onStore(open, async (store) => {
        const numRuns = Math.min(runsPerStore, collections - done);
        await fc.assert(listsEqual(store), { numRuns, seed: seed + done });
      })();
  });

  test(
    "each text is found by each text that folds to the same, and natural order is the same without an index",
    onStore(open, async (store) => {
      const all = texts.flatMap((each) => [{ a: each }, { a: [each] }]);
      const { collection, stored } = await fill(store, all, [], "uuid");
      const sort = [{ path: ["a"] as const, descending: false, as: "natural" as const }];
      assert.deepEqual(
        ids(await walk(store, { collection, sort, limit: 20 })),
        ids([...stored].sort(compareBy(sort))),
      );
      for (const text of texts)
        for (const kind of ["ini", "containsi", "startsWithi"] as const) {
          const filter: Filter = { kind, path: ["a"], values: [foldText(text)] };
          const { items } = await store.list({ collection, filter, limit: 1_000 });
          const expected = stored.filter((each) => matches(filter, each));
          assert.deepEqual(items.map(({ id }) => id).sort(), ids(expected).sort(), `${kind} ${text}`);
        }
    }),
  );

  test(
    "a walk along an index ends where the range ends, and goes not on to values of other types",
    onStore(open, async (store) => {
      const values = [1, 2, 3, "a", "b", "c", true, null, [], undefined];
      const all = values.map((a) => ({ a }));
      const indexes = [false, true].map((descending): Index => [{ path: ["a"], descending }]);
      const { collection } = await fill(store, all, indexes, "uuid");
      const conditions: [Condition["kind"] & ("gt" | "lt"), number | string, unknown[]][] = [
        ["gt", 0, [1, 2, 3]],
        ["lt", 9, [3, 2, 1]],
        ["gt", "", ["a", "b", "c"]],
        ["lt", "d", ["c", "b", "a"]],
      ];
      for (const [kind, bound, expected] of conditions) {
        const filter: Filter = { kind, path: ["a"], values: [bound] };
        const sort = [{ path: ["a"] as const, descending: kind === "lt" }];
        const walked = await walk(store, { collection, filter, sort, limit: 2 });
        assert.deepEqual(
          walked.map(({ a }) => a),
          expected,
        );
      }
    }),
  );
}
