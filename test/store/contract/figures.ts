/** Figures of lists: the store agrees with a computation in memory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Index } from "../../../src/collection/indexes.ts";
import { formatPath, type Path } from "../../../src/collection/paths.ts";
import type { DateUnit, Figure, GroupKey } from "../../../src/query/figures.ts";
import type { Filter } from "../../../src/query/filter.ts";
import type { Figures } from "../../../src/store/port/page.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { almostExact, nearExact } from "../../exact-numbers.ts";
import { nearDates } from "../../instants.ts";
import { seed } from "../../seed.ts";
import { computeFigures, type Query } from "./figures-oracle.ts";
import { commit, created, declaration, type OpenFixture, onStore, topic } from "./fixture.ts";
import { moved } from "./queries.ts";

type Resource = Record<string, unknown>;

const withoutSequence = ({ groups, more }: Figures) => ({ groups, more });

const names = ["a", "b", "d", 'a"b', "x y", "__proto__"] as const;
const name = fc.constantFrom("a", "a", ...names);
const path: fc.Arbitrary<Path> = fc.oneof(
  { weight: 8, arbitrary: name.map((first): Path => [first]) },
  { weight: 2, arbitrary: fc.tuple(name, name).map(([first, second]): Path => [first, second]) },
  { weight: 1, arbitrary: fc.constant<Path>(["id"]) },
);
const ownPath = path.filter(([first]) => first !== "id");
const long = "long ".repeat(25);
const text = fc.constantFrom(
  "",
  "a",
  "A",
  "b",
  "5",
  "null",
  '"',
  "\n",
  "ä",
  "\u{10000}",
  "\uffff",
  `${long}abc`,
  `${long}abcd`,
  `${long}abc!`,
  `${long}ab`,
);
const dates = [
  // Around changes of local time, and at the ends of the years.
  "2026-03-29T00:59:59.999Z",
  "2026-03-29T01:00:00.000Z",
  "2026-10-25T00:30:00.000Z",
  "2026-10-25T01:30:00.000Z",
  "2026-03-08T06:59:59.5Z",
  "2026-03-08T07:00:00Z",
  "2011-12-30T09:59:59.999Z",
  "2011-12-30T10:00:00.000Z",
  "0000-01-01T00:30:00.000Z",
  "0000-01-03",
  "9999-12-31T23:30:00.000Z",
  "1850-06-01T12:00:00.000Z",
  "2026-01-31",
  "2026-01-31T08:30:00.000Z",
  "2026-01-31T08:30:59Z",
  "2026-01-31T08:31:00.123456789Z",
  "2026-01-31T23:59:59.999Z",
  "2026-02-28",
  "2000-02-29",
  "2024-02-29T00:00:00Z",
  "0000-02-29",
  "9999-12-31T23:59:59.999Z",
  // Not dates
  "2026-02-29",
  "2026-02-30T00:00:00Z",
  "1900-02-29",
  "2026-04-31",
  "2026-13-01",
  "2026-00-10",
  "2026-01-00",
  "2026-01-31T24:00:00Z",
  "2026-01-31T23:60:00Z",
  "2026-01-31T23:59:60Z",
  "2026-01-31T08:30:00+01:00",
  "2026-01-31T08:30Z",
  "2026-01-31T08:30:00",
  "2026-01-31T08:30:00.Z",
  "2026-01-31T08:30:00.1234567890Z",
  "2026-01-31T08:30:00.12x4Z",
  "2026-01-31 08:30:00Z",
  "2026-01-31\n",
  " 2026-01-31",
  "now",
  "2460000.5",
  "12:30",
];
const date = fc.constantFrom(...dates);
const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 0.5, 0.125, 2 ** 40, -(2 ** 40)),
  fc.integer({ min: -80, max: 80 }).map((n) => n / 8),
);
const scalar = fc.oneof(
  text,
  date,
  date,
  nearDates,
  nearDates,
  nearExact,
  nearExact,
  fc.constantFrom(...almostExact),
  number,
  number,
  fc.boolean(),
  fc.constant(null),
);
const object = <T>(value: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(name, value), { maxLength: 3 }).map((members) => {
    const made: Resource = {};
    for (const [key, each] of members)
      Object.defineProperty(made, key, { value: each, enumerable: true, writable: true, configurable: true });
    return made;
  });
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 10, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) },
  { weight: 2, arbitrary: object(scalar) },
);
const resources = fc.array(object(value), { maxLength: 24 });
const condition: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    kind: fc.constant("in" as const),
    path,
    values: fc.array(scalar, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constantFrom("gt" as const, "lte" as const),
    path,
    values: fc.array(fc.oneof(text, number), { minLength: 1, maxLength: 1 }),
  }),
  fc.record({ kind: fc.constant("exists" as const), path, value: fc.boolean() }),
);
const filter: fc.Arbitrary<Filter> = fc.oneof(
  condition,
  fc.array(condition, { maxLength: 2 }).map((filters): Filter => ({ kind: "and", filters })),
  condition.map((each): Filter => ({ kind: "not", filter: each })),
);
/** How an attribute is compared. */
const as = fc.constantFrom({}, {}, { as: "date" as const }, { as: "exact" as const });
const index = fc.uniqueArray(
  fc
    .tuple(ownPath, fc.boolean(), as)
    .map(([of, descending, compared]) => ({ path: of, descending, ...compared })),
  { minLength: 1, maxLength: 4, selector: ({ path }) => formatPath(path) },
);
const indexes = fc.uniqueArray(index, { maxLength: 3, selector: (each: Index) => JSON.stringify(each) });
const figure: fc.Arbitrary<Figure> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Figure>({ kind: "count", name: "count" }) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom("sum" as const, "avg" as const, "min" as const, "max" as const), path)
      .map(([kind, of]): Figure => ({ kind, path: of, name: `${kind}(${formatPath(of)})` })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("min" as const, "max" as const), ownPath)
      .map(([kind, of]): Figure => ({ kind, path: of, as: "date", name: `${kind}(${formatPath(of)}) date` })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom("sum" as const, "avg" as const, "min" as const, "max" as const), ownPath)
      .map(
        ([kind, of]): Figure => ({ kind, path: of, as: "exact", name: `${kind}(${formatPath(of)}) exact` }),
      ),
  },
);
const groupKey: fc.Arbitrary<GroupKey> = fc
  .tuple(
    path,
    fc.option(fc.constantFrom("year", "month", "week", "day", "hour", "minute"), { nil: undefined, freq: 2 }),
    as,
    fc.constantFrom(undefined, "Europe/Berlin", "America/New_York", "Pacific/Apia", "Asia/Kathmandu", "UTC"),
  )
  .map(([of, unit, compared, zone]) => ({
    path: of,
    unit: "as" in compared && compared.as === "exact" ? undefined : (unit as DateUnit | undefined),
    name: `${formatPath(of)}:${unit}`,
    ...(unit !== undefined && zone !== undefined && { zone }),
    ...(of[0] !== "id" && compared),
  }));
const query: fc.Arbitrary<Query> = fc
  .record({
    figures: fc.array(figure, { minLength: 1, maxLength: 4 }),
    group: fc.array(groupKey, { maxLength: 3 }),
    filter: fc.option(filter, { nil: undefined }),
    sorted: fc.array(fc.tuple(fc.nat(20), fc.boolean(), moved), { maxLength: 2 }),
    limit: fc.integer({ min: 1, max: 12 }),
    offset: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(3)),
  })
  .map(({ sorted, filter, ...rest }) => {
    const all = [
      ...rest.group.map((_, place) => ({ of: "group" as const, place })),
      ...rest.figures.map((_, place) => ({ of: "figures" as const, place })),
    ];
    const sort = sorted.map(([n, descending, nulls]) => ({
      ...(all[n % all.length] as (typeof all)[0]),
      descending,
      ...nulls,
    }));
    return { ...rest, ...(filter && { filter }), sort };
  });

async function fill(store: Store, all: readonly Resource[], declared: readonly Index[]) {
  const collection = `figures${store.collections().size}`;
  await store.migrate([declaration(collection, { indexes: declared })]);
  const stored = all.map((attributes, n): Resource => ({ id: `id-${n}`, ...attributes }));
  const load = await store.load(collection);
  await load.add(stored.map((each) => ({ id: String(each.id), text: JSON.stringify(each) })));
  await load.finish();
  return { collection, stored };
}

const runs = Number(process.env.HOLDFAST_TEST_FIGURE_RUNS ?? 45);
const queriesEach = 12;

/** A new collection takes longer in a store that has many, so that each store gets only some of them. */
const runsPerStore = 15;

const count: Figure = { kind: "count", name: "count" };
const of = (kind: "sum" | "avg" | "min" | "max", ...path: [string, ...string[]]): Figure => ({
  kind,
  path,
  name: `${kind}(${path.join(".")})`,
});
const by = (name: string, unit?: DateUnit): GroupKey => ({ name, path: [name], unit });
const plain = { group: [], sort: [], limit: 100, offset: 0 } as const;

export function figuresContract(open: OpenFixture): void {
  test("figures equal a computation in memory, for random resources, filters, groups, sorts and indexes", async () => {
    console.log(`HOLDFAST_TEST_SEED=${seed}, ${runs * queriesEach} figures`);
    for (let done = 0; done < runs; done += runsPerStore)
      await onStore(open, async (store) => {
        const property = fc.asyncProperty(
          resources,
          indexes,
          fc.array(query, { minLength: queriesEach, maxLength: queriesEach }),
          async (all, declared, asked) => {
            const { collection, stored } = await fill(store, all, declared);
            for (const each of asked) {
              const found = withoutSequence(await store.figures({ collection, ...each }));
              assert.deepEqual(found, computeFigures(stored, each), JSON.stringify(each));
            }
          },
        );
        await fc.assert(property, { numRuns: Math.min(runsPerStore, runs - done), seed: seed + done });
      })();
  });

  test("sums of exact numbers have all digits, and averages are rounded to 12 of them after the point, halves away from zero", async () => {
    const nines = "9".repeat(38);
    const cases: [numbers: readonly string[], sum: string, average: string][] = [
      [["1", "1.0", "0"], "2.0", "0.666666666667"],
      [["-1", "-1", "-0.00"], "-2.00", "-0.666666666667"],
      [["1", "0", "0"], "1", "0.333333333333"],
      [["0.000000000001", "0"], "0.000000000001", "0.000000000001"],
      [["-0.000000000001", "0"], "-0.000000000001", "-0.000000000001"],
      [["0.0000000000004999", "0.0"], "0.0000000000004999", "0"],
      [[nines, nines, "1"], `1${"9".repeat(38)}`, `${"6".repeat(38)}.333333333333`],
      [[nines, `-${nines}`, `0.${"1".repeat(37)}`], `0.${"1".repeat(37)}`, "0.037037037037"],
      [[], "0", "null"],
    ];
    const exact = (kind: "sum" | "avg"): Figure => ({ ...of(kind, "n"), as: "exact" }) as Figure;
    await onStore(open, async (store) => {
      for (const [numbers, sum, average] of cases) {
        const others = [{ n: 5 }, { n: "5 " }, { n: null }, { n: ["5"] }, {}];
        const all = [...numbers.map((n) => ({ n })), ...others];
        const { collection } = await fill(store, all, [[{ path: ["n"], descending: false, as: "exact" }]]);
        const figures = [exact("sum"), exact("avg")];
        const { groups } = await store.figures({ ...plain, collection, figures });
        assert.deepEqual(groups, [[`"${sum}"`, average === "null" ? average : `"${average}"`]]);
      }
    })();
  });

  test("sums of any numbers are within 1e-12 of the sum of their absolute values", async () => {
    console.log(`HOLDFAST_TEST_SEED=${seed}`);
    const any = fc.double({ noNaN: true, noDefaultInfinity: true });
    const near = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    const numbers = fc.oneof(fc.array(any, { maxLength: 20 }), fc.array(near, { maxLength: 60 }));
    await onStore(open, async (store) => {
      const property = fc.asyncProperty(numbers, fc.boolean(), async (all, isIndexed) => {
        const declared: Index[] = isIndexed ? [[{ path: ["n"], descending: false }]] : [];
        const safe = all.filter(
          (n) => !Number.isInteger(n) || Number.isSafeInteger(n) || Math.abs(n) >= 1e21,
        );
        const { collection } = await fill(
          store,
          safe.map((n) => ({ n })),
          declared,
        );
        const { groups } = await store.figures({
          ...plain,
          collection,
          figures: [of("sum", "n"), of("avg", "n")],
        });
        const [sum, avg] = (groups[0] ?? []).map((each) => JSON.parse(each ?? "undefined") as number | null);
        // Numbers divided by a power of two cannot exceed the range.
        const small = safe.map((n) => n / 2 ** 10);
        const exact = small.reduce((total, n) => total + n, 0);
        const bound = 1e-12 * small.reduce((total, n) => total + Math.abs(n), 0) + 1e-280;
        if (sum !== null) assert.ok(Math.abs((sum ?? 0) / 2 ** 10 - exact) <= bound, `${sum}`);
        else assert.ok(Math.abs(exact) * 2 ** 10 >= Number.MAX_VALUE * (1 - 1e-9));
        if (safe.length === 0) assert.equal(avg, null);
        else assert.ok(Math.abs(((avg ?? 0) / 2 ** 10) * safe.length - exact) <= bound * 2, `${avg}`);
      });
      await fc.assert(property, { numRuns: Math.max(40, runs), seed });
    })();
  });

  test(
    "sums, averages and sorts by them are within 1e-300 of the exact ones where numbers are next to 0",
    onStore(open, async (store) => {
      const least = Number.MIN_VALUE;
      const groups = [[least], [least, 0], [least, 0, 0], [least * 9, least * -8, least * -8, least * 9]];
      const all = groups.flatMap((numbers, group) => numbers.map((n) => ({ group, n })));
      // In decimals, the sum of this group is not 0, but nearer to 0 than to any other number.
      for (const n of [9, 9, 9, -8, -8, -8, -1, -1, -1]) all.push({ group: groups.length, n: n * least });
      const { collection } = await fill(store, all, []);
      const figures = [of("avg", "n"), of("sum", "n")];
      const sort = [
        { of: "figures", place: 0, descending: false },
        { of: "figures", place: 1, descending: true },
      ] as const;
      const found = await store.figures({ ...plain, collection, figures, group: [by("group")], sort });
      assert.equal(found.groups.length, groups.length + 1);
      for (const row of found.groups)
        for (const each of row.slice(1))
          assert.ok(Math.abs(JSON.parse(each ?? "null") as number) <= 1e-300, `${row}`);
    }),
  );

  test(
    "sums of integers are exact up to 2^53, also when a partial sum is larger",
    onStore(open, async (store) => {
      const max = Number.MAX_SAFE_INTEGER;
      const all = [
        ...Array.from({ length: 1_100 }, () => max),
        ...Array.from({ length: 1_099 }, () => -max),
        -3,
      ];
      const { collection } = await fill(
        store,
        all.map((n) => ({ n })),
        [],
      );
      const { groups } = await store.figures({ ...plain, collection, figures: [of("sum", "n")] });
      assert.deepEqual(groups, [[String(max - 3)]]);
    }),
  );

  test(
    "a sum beyond the range of numbers is null, and a partial sum beyond it does no harm",
    onStore(open, async (store) => {
      const figures = [of("sum", "n"), of("avg", "n"), of("max", "n")];
      const beyond = await fill(store, [{ n: 1e308 }, { n: 1e308 }, { n: "1" }], []);
      assert.deepEqual((await store.figures({ ...plain, collection: beyond.collection, figures })).groups, [
        ["null", "1e+308", '"1"'],
      ]);
      const within = await fill(store, [{ n: 1e308 }, { n: 1e308 }, { n: -1e308 }], []);
      const [[sum] = []] = (await store.figures({ ...plain, collection: within.collection, figures })).groups;
      assert.equal(sum, "1e+308");
    }),
  );

  test(
    "dates are grouped by their parts, and all other values are null, with and without an index",
    onStore(open, async (store) => {
      for (const declared of [[], [[{ path: ["a"] as const, descending: true }]]]) {
        const all: Resource[] = [...dates, 1, null, 1_769_848_200_000, ["2026-01-31"]].map((a) => ({ a }));
        const { collection, stored } = await fill(store, [...all, {}], declared);
        for (const unit of ["year", "month", "day", "hour", "minute"] as const) {
          const asked = { ...plain, figures: [count], group: [by("a", unit)] };
          const found = withoutSequence(await store.figures({ collection, ...asked }));
          assert.deepEqual(found, computeFigures(stored, asked));
        }
      }
    }),
  );

  test(
    "values of every type are their own groups, with and without an index",
    onStore(open, async (store) => {
      const values = [
        `${long}abc`,
        `${long}abcd`,
        `${long}abc!`,
        "a",
        "1",
        1,
        1.5,
        true,
        false,
        "true",
        null,
        [],
        [1],
        {},
      ];
      const all: Resource[] = [...values, ...values].map((a, n) => ({ a, n }));
      const asked = {
        ...plain,
        figures: [count, of("sum", "n"), of("min", "a"), of("max", "a")],
        group: [by("a")],
      };
      const keys = (...names: string[]): Index => names.map((each) => ({ path: [each], descending: false }));
      for (const declared of [[], [keys("a", "n")], [keys("n", "a")]]) {
        const { collection, stored } = await fill(store, [...all, {}, { n: 1 }], declared);
        const found = withoutSequence(await store.figures({ collection, ...asked }));
        assert.deepEqual(found, computeFigures(stored, asked));
        assert.equal(found.groups.length, values.length + 1);
      }
    }),
  );

  test(
    "the minimum and the maximum of two values of different types",
    onStore(open, async (store) => {
      const values = [null, false, true, 0, 1.5, "", "1", [], {}];
      const pairs = values.flatMap((one, n) => values.slice(n + 1).map((other) => [one, other] as const));
      const all: Resource[] = pairs.flatMap((pair, n) => pair.map((a) => ({ a, n })));
      const asked = { ...plain, figures: [of("min", "a"), of("max", "a")], group: [by("n")] };
      const { collection, stored } = await fill(store, all, []);
      const found = withoutSequence(await store.figures({ collection, ...asked }));
      assert.equal(found.groups.length, pairs.length);
      assert.deepEqual(found, computeFigures(stored, asked));
    }),
  );

  test(
    "a collection that does not exist is an empty list",
    onStore(open, async (store) => {
      const figures = [count, of("sum", "n"), of("avg", "n"), of("min", "n")];
      const row = ["0", "0", "null", "null"];
      for (const collection of ["none", "topics"]) {
        const found = await store.figures({ ...plain, collection, figures });
        assert.deepEqual(found, { groups: [row], more: false, sequence: 0 });
        const grouped = await store.figures({ ...plain, collection, figures, group: [by("a")] });
        assert.deepEqual(grouped.groups, []);
      }
    }),
  );

  test(
    "figures see each confirmed commit, and the sequence of the collection",
    onStore(open, async (store) => {
      for (let n = 1; n <= 3; n++) {
        await commit(store, [created(topic(`t${n}`), { n })]);
        const found = await store.figures({ ...plain, collection: "topics", figures: [of("sum", "n")] });
        assert.deepEqual(found, { groups: [[String((n * (n + 1)) / 2)]], more: false, sequence: n });
      }
    }),
  );

  test(
    "a search narrows the figures",
    onStore(open, async (store) => {
      const searched = declaration("notes", { search: [["text"]] });
      await store.migrate([searched]);
      for (const [id, text] of [
        ["1", "red apple"],
        ["2", "red pear"],
        ["3", "green pear"],
      ] as const)
        await commit(store, [created({ collection: "notes", id }, { text, kind: id === "3" ? "g" : "r" })]);
      const asked = { ...plain, collection: "notes", figures: [count], group: [by("kind")], words: ["pear"] };
      const filter: Filter = { kind: "in", path: ["kind"], values: ["r"] };
      assert.deepEqual((await store.figures(asked)).groups, [
        ['"g"', "1"],
        ['"r"', "1"],
      ]);
      assert.deepEqual((await store.figures({ ...asked, filter })).groups, [['"r"', "1"]]);
    }),
  );

  test(
    "groups whose values are longer than a page are cut, but never to nothing",
    onStore(open, async (store) => {
      const all = Array.from({ length: 5 }, (_, n) => ({ a: `${n}${"x".repeat(900_000)}` }));
      const { collection } = await fill(store, all, []);
      const asked = { ...plain, collection, figures: [count], group: [by("a")] };
      const { groups, more } = await store.figures(asked);
      assert.deepEqual([groups.length, more], [2, true]);
      const huge = await fill(store, [{ a: "x".repeat(3_000_000) }, { a: "y" }], []);
      const found = await store.figures({ ...asked, collection: huge.collection });
      assert.deepEqual([found.groups.length, found.more], [1, true]);
    }),
  );
}
