/** The sizes of collections on SQLite: how they are read, and how long they are kept. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { NumberedCollection } from "../../src/store/core/catalogue.ts";
import { collectionSizes, Sizes, type Walk } from "../../src/store/sqlite/read/sizes.ts";
import { declaration } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

/** A closed store with collections of the same resources, as a database. */
async function openFile(
  t: { after(done: () => unknown): void },
  { collections = 1, resources, textLength }: { collections?: number; resources: number; textLength: number },
): Promise<DatabaseSync> {
  const { store, path, cleanup } = await openSqliteFixture();
  const name = ["name"] as const;
  const indexes = [[{ path: name, descending: false }]];
  for (let n = 1; n <= collections; n++) {
    const load = await store.load(declaration(`c${n}`, { indexes, search: [name] }));
    const textOf = (id: string, place: number) =>
      JSON.stringify({ id, name: `name ${place * 7919}`, text: "x".repeat(textLength * ((place % 5) + 1)) });
    await load.add(
      Array.from({ length: resources }, (_, place) => ({
        id: `id${place}`,
        text: textOf(`id${place}`, place),
      })),
    );
    await load.finish();
  }
  const database = new DatabaseSync(path, { readOnly: true });
  t.after(() => {
    database.close();
    return cleanup();
  });
  return database;
}

/** The sizes, and how many pages were read for them. Each page takes one millisecond. */
function measureAll(
  database: DatabaseSync,
  numbers: readonly number[],
  walk: Partial<Walk> = {},
): { sizes: number[]; pages: number } {
  let pages = 0;
  const onPage = () => {
    pages++;
  };
  const sizes = collectionSizes(database, numbers, {
    onPage,
    maxMs: Number.POSITIVE_INFINITY,
    now: () => pages,
    ...walk,
  });
  return { sizes, pages };
}

/** The size of one collection, as `measureAll`. */
function measure(
  database: DatabaseSync,
  number: number,
  walk?: Partial<Walk>,
): { bytes: number; pages: number } {
  const { sizes, pages } = measureAll(database, [number], walk);
  assert.equal(sizes.length, 1);
  return { bytes: sizes[0] as number, pages };
}

describe("the size of a collection", () => {
  test("has all its trees, and no others", async (t) => {
    const database = await openFile(t, { collections: 12, resources: 50, textLength: 20 });
    const sum = Array.from({ length: 12 }, (_, n) => measure(database, n + 1).bytes).reduce((a, b) => a + b);
    const others = "('collections', 'heads', 'keys', 'meta', 'receipts', 'sqlite_schema', 'copying')";
    const sql = `select sum(pgsize) as bytes from dbstat left join sqlite_schema using (name)
      where coalesce(tbl_name, name) not in ${others} and coalesce(tbl_name, name) not like 'sqlite_stat%'`;
    assert.equal(sum, Number(database.prepare(sql).get()?.bytes));
  });

  for (const [what, textLength, maxPages] of [
    ["short texts", 50, 50],
    ["texts of several pages", 3_000, 1_000],
  ] as const)
    test(`with ${what} is estimated from a few pages`, async (t) => {
      const database = await openFile(t, { resources: 6_000, textLength });
      const exact = measure(database, 1);
      const few = measure(database, 1, { maxPages });
      const trees = 10;
      const spilled = 10 * 4; // the pages of the last texts
      const most = Math.min(trees * (maxPages + 1) + spilled, exact.pages * 0.75);
      assert.ok(few.pages <= most, `${few.pages} of ${exact.pages} pages`);
      assert.ok(Math.abs(few.bytes / exact.bytes - 1) < 0.25, `${few.bytes} instead of ${exact.bytes}`);
    });

  test("is estimated when its time is over, from at least a few pages of each tree", async (t) => {
    const database = await openFile(t, { resources: 6_000, textLength: 50 });
    const exact = measure(database, 1);
    const late = measure(database, 1, { maxMs: 0 });
    assert.ok(late.pages <= 10 * (64 + 1), `${late.pages} of ${exact.pages} pages`);
    assert.ok(late.pages < exact.pages * 0.75, `${late.pages} of ${exact.pages} pages`);
    assert.ok(Math.abs(late.bytes / exact.bytes - 1) < 0.25, `${late.bytes} instead of ${exact.bytes}`);
    const more = measure(database, 1, { maxMs: 2 * 128 }).pages - late.pages;
    assert.ok(Math.abs(more - 64) <= 5, `the first tree has half of the time, so it has ${more} more pages`);
  });

  test("is read together with others, as many as begin in its time", async (t) => {
    const database = await openFile(t, { collections: 4, resources: 50, textLength: 20 });
    const each = [1, 2, 3, 4].map((number) => measure(database, number));
    const pages = each[0]?.pages as number;
    const begun = (maxMs: number) => measureAll(database, [1, 2, 3, 4], { maxMs });
    const sizes = each.map(({ bytes }) => bytes);
    assert.deepEqual(begun(Number.POSITIVE_INFINITY).sizes, sizes);
    assert.deepEqual(begun(2 * pages).sizes, sizes.slice(0, 2));
    assert.deepEqual(begun(2 * pages + 1).sizes, sizes.slice(0, 3));
    assert.deepEqual(begun(0).sizes, sizes.slice(0, 1));
  });

  test("ends with an error of the function for each page", async (t) => {
    const database = await openFile(t, { resources: 10, textLength: 10 });
    const onPage = () => {
      throw new Error("over");
    };
    assert.throws(() => measure(database, 1, { onPage }), /over/);
    assert.ok(measure(database, 1).bytes > 0, "the connection can be used again");
  });
});

function collection(number: number): NumberedCollection {
  return { ...declaration(`c${number}`), number } as NumberedCollection;
}

const asked = (number: number, sequence = 0) => ({ collection: collection(number), sequence, count: 100 });

/** Sizes whose reads end when the test says so. `asked` are the names of the collections of each read. */
function controlledSizes(maxWaitMs: number) {
  const asked: string[][] = [];
  let read = Promise.withResolvers<readonly number[]>();
  const sizes = new Sizes({
    maxWaitMs,
    measure(collections) {
      asked.push(collections.map(({ name }) => name));
      read = Promise.withResolvers();
      return read.promise;
    },
  });
  const finish = async (...bytes: number[]) => {
    read.resolve(bytes);
    await new Promise(setImmediate);
  };
  const fail = async () => {
    read.reject(new Error("broken"));
    await new Promise(setImmediate);
  };
  return { sizes, asked, finish, fail };
}

const forever = 1_000_000;

describe("a size is read", () => {
  test("again only after many changes, or a long time", async () => {
    let now = 0;
    let reads = 0;
    const sizes = new Sizes({ measure: async () => [++reads], maxWaitMs: forever, now: () => now });
    const size = async (sequence: number) => {
      await sizes.of([asked(1, sequence)]);
      await new Promise(setImmediate); // the read ends
      return (await sizes.of([asked(1, sequence)])).get("c1");
    };
    assert.equal(await size(1_000), 1);
    assert.equal(await size(1_005), 1);
    assert.equal(await size(1_006), 2);
    now = 300_000;
    assert.equal(await size(1_006), 2);
    now = 300_001;
    assert.equal(await size(1_006), 3);
  });

  test("with as many others as fit, until all are read, and once for several callers", async () => {
    const { sizes, asked: reads, finish } = controlledSizes(forever);
    const both = [sizes.of([asked(1), asked(2), asked(3)]), sizes.of([asked(3), asked(1)])];
    await finish(1, 2);
    await finish(3);
    const [all, some] = await Promise.all(both);
    assert.deepEqual(Object.fromEntries(all ?? []), { c1: 1, c2: 2, c3: 3 });
    assert.deepEqual(Object.fromEntries(some ?? []), { c1: 1, c3: 3 });
    assert.deepEqual(reads, [["c1", "c2", "c3"], ["c3"]]);
  });

  test("while a call waits only if it would have no size", async () => {
    const { sizes, asked: reads, finish } = controlledSizes(forever);
    const first = sizes.of([asked(1)]);
    await finish(5);
    assert.deepEqual([...(await first)], [["c1", 5]]);
    const atOnce = async () => {
      const late = new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
      const found = await Promise.race([sizes.of([asked(1, 50), asked(2)]), late]);
      return found && Object.fromEntries(found);
    };
    assert.deepEqual(await atOnce(), { c1: 5 }, "the last known size, while no read ends");
    assert.deepEqual(await atOnce(), { c1: 5 });
    await finish(6, 7);
    assert.deepEqual(await atOnce(), { c1: 6, c2: 7 });
    assert.deepEqual(reads, [["c1"], ["c1", "c2"]]);
  });

  test("for a later call, if it takes too long", async () => {
    const { sizes, asked: reads, finish } = controlledSizes(1);
    assert.deepEqual([...(await sizes.of([asked(1), asked(2)]))], []);
    assert.deepEqual([...(await sizes.of([asked(2)]))], []);
    await finish(5);
    assert.deepEqual([...(await sizes.of([asked(1)]))], [["c1", 5]]);
    assert.deepEqual(reads, [["c1", "c2"], ["c2"]]);
  });

  test("after an error only for the next call", async () => {
    const { sizes, asked: reads, finish, fail } = controlledSizes(forever);
    const failed = sizes.of([asked(1)]);
    await fail();
    assert.deepEqual([...(await failed)], []);
    const repeated = sizes.of([asked(2)]);
    assert.deepEqual(reads, [["c1"], ["c2"]], "only what this call asks for");
    await finish(5);
    assert.deepEqual([...(await repeated)], [["c2", 5]]);
  });
});
