/** Related resources: the store agrees with a model in memory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Index, SortKey } from "../../../src/collection/indexes.ts";
import type { Path } from "../../../src/collection/paths.ts";
import type { Reference } from "../../../src/collection/references.ts";
import type { GroupKey } from "../../../src/query/figures.ts";
import {
  allOf,
  type Filter,
  matches,
  type RelationPath,
  type StoreFilter,
  type StoreLeaf,
} from "../../../src/query/filter.ts";
import { type CursorValues, compareBy, type StoreSortKey } from "../../../src/query/sort.ts";
import { type ListQuery, maxPageBytes, type Page } from "../../../src/store/port/page.ts";
import type { Store } from "../../../src/store/port/store.ts";
import {
  compareInWorld,
  matchesInWorld,
  type Resource,
  relatedTo,
  valuesInWorld,
  type World,
} from "../../related-model.ts";
import { seed } from "../../seed.ts";
import { declaration, type OpenFixture, onStore } from "./fixture.ts";
import { moved } from "./queries.ts";

type Kind = "uuid" | "integer";

const paths: Record<string, Path> = { author: ["authorId"], tags: ["tagIds"], parent: ["at", "parent"] };

/** The references of the articles `n`. Each world has its own collections. */
const referencesOf = (n: number): Reference[] => [
  { path: ["authorId"], collection: `users${n}`, onDelete: "restrict" },
  { path: ["tagIds"], collection: `tags${n}`, onDelete: "restrict" },
  { path: ["at", "parent"], collection: `articles${n}`, onDelete: "restrict" },
];

const word = fc.constantFrom("a", "b", "c", "A", "long ".repeat(30));
const n = fc.constantFrom(0, 1, 2, 3);
const thing = fc.record({ name: word, n }, { requiredKeys: [] });
const pick = fc.option(fc.nat({ max: 9 }), { nil: undefined });
const article = fc.record({
  own: thing,
  author: pick,
  tags: fc.option(fc.array(fc.nat({ max: 9 }), { maxLength: 4 }), { nil: undefined }),
  parent: pick,
});

const path = fc.constantFrom<Path>(["name"], ["n"], ["id"], ["authorId"]);
const condition: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    kind: fc.constant("in" as const),
    path,
    values: fc.array(fc.oneof(word, n), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constantFrom("gt" as const, "lte" as const),
    path,
    values: fc.array(fc.oneof(word, n), { minLength: 1, maxLength: 1 }),
  }),
  fc.record({ kind: fc.constant("exists" as const), path, value: fc.boolean() }),
  fc.record({
    kind: fc.constant("contains" as const),
    path,
    values: fc.array(word, { minLength: 1, maxLength: 1 }),
  }),
);
const filter: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 4, arbitrary: condition },
  { weight: 1, arbitrary: condition.map((each): Filter => ({ kind: "not", filter: each })) },
  {
    weight: 1,
    arbitrary: fc.array(condition, { maxLength: 2 }).map((filters): Filter => ({ kind: "and", filters })),
  },
  {
    weight: 1,
    arbitrary: fc.array(condition, { maxLength: 2 }).map((filters): Filter => ({ kind: "or", filters })),
  },
);
const sort = fc.uniqueArray(
  fc
    .tuple(path, fc.boolean(), moved)
    .map(([of, descending, nulls]): SortKey => ({ path: of, descending, ...(of[0] !== "id" && nulls) })),
  { selector: (key: SortKey) => key.path.join("."), maxLength: 2 },
);
const index = fc
  .uniqueArray(
    fc.record({ path: fc.constantFrom<Path>(["name"], ["n"], ["authorId"]), descending: fc.boolean() }),
    {
      selector: (key: SortKey) => key.path.join("."),
      minLength: 1,
      maxLength: 2,
    },
  )
  .map((keys): Index => keys);
const indexes = fc.uniqueArray(index, { maxLength: 2, selector: (each) => JSON.stringify(each) });
const kinds = fc.record({
  users: fc.constantFrom<Kind>("uuid", "integer"),
  articles: fc.constantFrom<Kind>("uuid", "integer"),
  tags: fc.constantFrom<Kind>("uuid", "integer"),
});

/** The relations that a filter can name, from one collection. */
function relationsOf(world: number, from: "users" | "articles" | "tags"): RelationPath[] {
  const articles = `articles${world}`;
  const inverse = (each: Path): RelationPath => ({ kind: "inverse", collection: articles, path: each });
  if (from === "users") return [inverse(["authorId"])];
  if (from === "tags") return [inverse(["tagIds"])];
  const forward = referencesOf(world).map(
    ({ path: each, collection }): RelationPath => ({ kind: "reference", collection, path: each }),
  );
  return [...forward, inverse(["at", "parent"])];
}

const question = fc.record({
  from: fc.constantFrom("users" as const, "articles" as const, "tags" as const),
  relation: fc.nat(),
  inner: fc.option(filter, { nil: undefined }),
  /** A condition about resources that are related to the related ones, beside `inner` or alone. */
  deep: fc.option(
    fc.record({ relation: fc.nat(), fits: fc.option(filter, { nil: undefined }), isAlone: fc.boolean() }),
    { nil: undefined },
  ),
  outer: fc.option(filter, { nil: undefined }),
  shape: fc.constantFrom("alone", "not", "and", "or" as const),
  sort,
  /** Sort keys of the related resources, with the condition that these must match. */
  throughs: fc.array(
    fc.record({ relation: fc.nat(), path, descending: fc.boolean(), nulls: moved, fits: fc.option(filter) }),
    {
      maxLength: 2,
    },
  ),
  limit: fc.integer({ min: 1, max: 4 }),
});
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

const world = fc.record({
  kinds,
  users: fc.array(thing, { minLength: 1, maxLength: 5 }),
  tags: fc.array(thing, { minLength: 1, maxLength: 5 }),
  articles: fc.array(article, { minLength: 1, maxLength: 12 }),
  indexes: fc.record({ users: indexes, articles: indexes, tags: indexes }),
  questions: fc.array(question, { minLength: 15, maxLength: 15 }),
});
type Made = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

/** Some ids look like integers also where they are texts. */
const idOf = (kind: Kind, at: number) =>
  kind === "integer" ? at * 7 - 7 : `${at % 2 === 0 ? "" : "x"}${at * 3}`;

async function fill(store: Store, number: number, made: Made): Promise<World> {
  const { kinds: idKinds } = made;
  const users = made.users.map((each, at): Resource => ({ id: idOf(idKinds.users, at), ...each }));
  const tags = made.tags.map((each, at): Resource => ({ id: idOf(idKinds.tags, at), ...each }));
  const target = (all: readonly Resource[], at: number) => all[at % all.length]?.id;
  const articles: Resource[] = [];
  for (const [at, { own, author, tags: tagged, parent }] of made.articles.entries())
    articles.push({
      id: idOf(idKinds.articles, at),
      ...own,
      ...(author === undefined ? {} : { authorId: target(users, author) }),
      ...(tagged === undefined ? {} : { tagIds: tagged.map((each) => target(tags, each)) }),
      ...(parent === undefined || at === 0 ? {} : { at: { parent: target(articles, parent) } }),
    });
  const all = { [`users${number}`]: users, [`tags${number}`]: tags, [`articles${number}`]: articles };
  const declared = (name: "users" | "tags" | "articles") =>
    declaration(`${name}${number}`, {
      idKind: idKinds[name],
      indexes: made.indexes[name],
      ...(name === "articles" && { references: referencesOf(number) }),
    });
  await store.migrate([declared("users"), declared("tags"), declared("articles")]);
  for (const [name, resources] of Object.entries(all)) {
    const load = await store.load(name);
    await load.add(resources.map((each) => ({ id: String(each.id), text: JSON.stringify(each) })));
    await load.finish();
  }
  return all;
}

/** The sort keys of a question, in their order: those of related resources first. */
function sortOf(number: number, { from, sort: own, throughs }: Question): StoreSortKey[] {
  const single = relationsOf(number, from).filter(
    ({ kind, path: each }) => kind === "reference" && each[0] !== "tagIds",
  );
  const keys = throughs.map(({ relation, path: each, descending, nulls, fits }): StoreSortKey => {
    const condition: Filter = fits ?? { kind: "and", filters: [] };
    const chosen = single[relation % single.length] as RelationPath;
    return {
      path: each,
      descending,
      ...nulls,
      through: { kind: "related", relation: chosen, filter: condition },
    };
  });
  return [...(single.length === 0 ? [] : keys), ...own];
}

/** The filter of a question that is about a second relation; `undefined` if it has only one. */
function deeper(number: number, { collection }: RelationPath, { deep, inner }: Question) {
  if (deep === undefined) return undefined;
  const known = relationsOf(number, collection.replace(/\d+$/, "") as Question["from"]);
  const second: StoreFilter = {
    kind: "related",
    relation: known[deep.relation % known.length] as RelationPath,
    filter: deep.fits ?? { kind: "and", filters: [] },
  };
  const filters = deep.isAlone || inner === undefined ? [second] : [inner, second];
  return allOf<StoreLeaf>(filters);
}

const ids = (all: readonly Resource[]) => all.map(({ id }) => id);
const parse = (items: readonly { text: string }[]) => items.map(({ text }): Resource => JSON.parse(text));

async function askList(store: Store, all: World, number: number, asked: Question): Promise<void> {
  const { from, relation, inner, outer, shape, limit } = asked;
  const order = sortOf(number, asked);
  const known = relationsOf(number, from);
  const anything: Filter = { kind: "and", filters: [] };
  const outerRelation = known[relation % known.length] as RelationPath;
  const related: StoreFilter = {
    kind: "related",
    relation: outerRelation,
    filter: deeper(number, outerRelation, asked) ?? inner ?? anything,
  };
  const others: StoreFilter[] = outer === undefined ? [] : [outer];
  const asFilter = (): StoreFilter => {
    if (shape === "alone") return related;
    if (shape === "not") return { kind: "and", filters: [{ kind: "not", filter: related }, ...others] };
    return { kind: shape === "and" ? "and" : "or", filters: [related, ...others] };
  };
  const collection = `${from}${number}`;
  const narrowed = asFilter();
  const expected = (all[collection] ?? [])
    .filter((each) => matchesInWorld(all, narrowed, each))
    .sort(compareInWorld(all, order));
  const query: ListQuery = { collection, filter: narrowed, sort: order, limit };
  const page = await store.list({ ...query, count: true });
  const context = JSON.stringify({ narrowed, order });
  assert.deepEqual(ids(parse(page.items)), ids(expected.slice(0, limit)), context);
  assert.equal(page.total, expected.length);
  assert.equal(page.more, expected.length > limit);
  if (!order.some(({ through }) => through !== undefined)) return;
  const walked: unknown[] = [];
  for (let next: Page | undefined = page; next !== undefined; ) {
    walked.push(...ids(parse(next.items)));
    const after: CursorValues | undefined = next.positions?.[next.items.length - 1];
    next = next.more && after !== undefined ? await store.list({ ...query, after }) : undefined;
  }
  assert.deepEqual(walked, ids(expected), context);
}

/** Groups by the attributes of related resources. A group without a value is first. */
async function askGroups(store: Store, all: World, number: number, asked: Question): Promise<void> {
  const collection = `${asked.from}${number}`;
  const keys = sortOf(number, asked).filter((key) => key.through !== undefined);
  const group = keys.map(
    (key, place): GroupKey => ({
      path: key.path,
      through: key.through,
      ...(key.as === "date" && { as: key.as }),
      name: `g${place}`,
      unit: undefined,
    }),
  );
  if (group.length === 0) return;
  const { groups } = await store.figures({
    collection,
    figures: [{ kind: "count", name: "count" }],
    group,
    sort: keys.map(({ descending }, place) => ({ of: "group", place, descending })),
    limit: 1_000,
    offset: 0,
    ...(asked.outer && { filter: asked.outer }),
  });
  const found = new Map<string, { id: string; values: unknown[]; count: number }>();
  for (const each of all[collection] ?? []) {
    if (asked.outer !== undefined && !matches(asked.outer, each)) continue;
    const values = valuesInWorld(all, each, keys);
    const id = JSON.stringify(values.map((value) => value ?? []));
    const known = found.get(id) ?? { id, values, count: 0 };
    found.set(id, { ...known, count: known.count + 1 });
  }
  const order = compareBy(
    keys.map(({ descending }, place) => ({ path: ["values", String(place)], descending })),
  );
  const expected = [...found.values()]
    .map((each) => ({ ...each, values: { ...each.values } }))
    .sort(order)
    .map(({ values, count }) => [
      ...Object.values(values).map((each) => JSON.stringify(each)),
      String(count),
    ]);
  assert.deepEqual(groups, expected, JSON.stringify({ keys, filter: asked.outer }));
}

/** The type of an id in a reference decides whether an index can be used. */
async function askReferring(
  store: Store,
  all: World,
  number: number,
  made: Made,
  asked: Question,
): Promise<void> {
  const { inner, sort: order, limit, relation } = asked;
  const references = referencesOf(number);
  const { path: reference, collection: target } = references[relation % references.length] as Reference;
  const kind = made.kinds[target.replace(/\d+$/, "") as keyof Made["kinds"]];
  const type = reference[0] === "tagIds" ? "array" : kind === "integer" ? "number" : "string";
  const targets = [...(all[target] ?? [])].reverse();
  const collection = `articles${number}`;
  const groups = await store.referring({
    collection,
    reference: { path: reference, type },
    ids: targets.map(({ id }) => String(id)),
    limit,
    sort: order,
    ...(inner && { filter: inner }),
  });
  const expected = targets.map((each) => {
    const found = relatedTo(all, each, { kind: "inverse", collection, path: reference });
    const fitting = found.filter((one) => inner === undefined || matches(inner, one)).sort(compareBy(order));
    return { ids: ids(fitting.slice(0, limit)), more: fitting.length > limit };
  });
  const given = groups.map((group) => group && { ids: ids(parse(group.items)), more: group.more });
  assert.deepEqual(given, expected, JSON.stringify({ reference, inner, order }));
}

const runs = Number(process.env.HOLDFAST_TEST_RELATED_RUNS ?? 50);
const runsPerStore = 10;

export function relatedContract(open: OpenFixture): void {
  test("lists by related resources, and groups of them, equal a reading of everything in memory", async () => {
    console.log(`HOLDFAST_TEST_SEED=${seed}, ${runs} worlds`);
    for (let done = 0; done < runs; done += runsPerStore)
      await onStore(open, async (store) => {
        let number = 0;
        const property = fc.asyncProperty(world, async (made) => {
          number++;
          const all = await fill(store, number, made);
          for (const asked of made.questions) {
            await askList(store, all, number, asked);
            await askGroups(store, all, number, asked);
            await askReferring(store, all, number, made, asked);
          }
        });
        await fc.assert(property, { numRuns: Math.min(runsPerStore, runs - done), seed: seed + done });
      })();
  });

  test(
    "groups end where their texts are longer than a page, and the first has at least one",
    onStore(open, async (store) => {
      const references: Reference[] = [{ path: ["authorId"], collection: "users", onDelete: "restrict" }];
      await store.migrate([declaration("articles", { references })]);
      await store.commit({
        changes: ["1", "2", "3"].map((id) => ({
          key: { collection: "users", id },
          expect: "absent" as const,
          next: JSON.stringify({ id }),
        })),
        at: 0,
      });
      const text = "x".repeat(Math.ceil(maxPageBytes / 2.5));
      for (const [id, authorId] of Object.entries({ a: "1", b: "2", c: "2", d: "3" }))
        await store.commit({
          changes: [
            {
              key: { collection: "articles", id },
              expect: "absent",
              next: JSON.stringify({ id, authorId, text }),
            },
          ],
          at: 0,
        });
      const ask = async (...wanted: string[]) => {
        const reference = { path: ["authorId"] as const, type: "string" as const };
        const groups = await store.referring({ collection: "articles", reference, ids: wanted, limit: 5 });
        return groups.map((group) => group && { ids: group.items.map(({ id }) => id), more: group.more });
      };
      assert.deepEqual(await ask("1", "2", "3"), [
        { ids: ["a"], more: false },
        { ids: ["b"], more: true },
        undefined,
      ]);
      assert.deepEqual(await ask("2", "1"), [{ ids: ["b", "c"], more: false }, undefined]);
      assert.deepEqual(await ask("nothing", "3"), [
        { ids: [], more: false },
        { ids: ["d"], more: false },
      ]);
      const unknown = await store.referring({
        collection: "nothing",
        reference: { path: paths.author as Path, type: "string" },
        ids: ["1"],
        limit: 1,
      });
      assert.deepEqual(unknown, [{ items: [], more: false }]);
    }),
  );
}
