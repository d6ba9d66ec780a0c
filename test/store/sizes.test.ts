/** The sizes of collections on SQLite: how they are read, and how long they are kept. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { NumberedCollection } from "../../src/store/sqlite/file/catalogue.ts";
import { Sizes } from "../../src/store/sqlite/read/sizes.ts";
import { collectionSize } from "../../src/store/sqlite/read/tree-sizes.ts";
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

/** The size, and how many pages were read for it. */
function measure(
  database: DatabaseSync,
  number: number,
  maxPages?: number,
): { bytes: number; pages: number } {
  let pages = 0;
  const onPage = () => {
    pages++;
  };
  return { bytes: collectionSize(database, number, { onPage, ...(maxPages && { maxPages }) }), pages };
}

describe("the size of a collection", () => {
  test("has all its trees, and no others", async (t) => {
    const database = await openFile(t, { collections: 12, resources: 50, textLength: 20 });
    const sum = Array.from({ length: 12 }, (_, n) => measure(database, n + 1).bytes).reduce((a, b) => a + b);
    const others =
      "('collections', 'heads', 'keys', 'meta', 'receipts', 'searches', 'sqlite_schema', 'copying')";
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
      const few = measure(database, 1, maxPages);
      const trees = 10;
      const spilled = 10 * 4; // the pages of the last texts
      const most = Math.min(trees * (maxPages + 1) + spilled, exact.pages * 0.75);
      assert.ok(few.pages <= most, `${few.pages} of ${exact.pages} pages`);
      assert.ok(Math.abs(few.bytes / exact.bytes - 1) < 0.25, `${few.bytes} instead of ${exact.bytes}`);
    });

  test("ends with an error of the function for each page", async (t) => {
    const database = await openFile(t, { resources: 10, textLength: 10 });
    const onPage = () => {
      throw new Error("over");
    };
    assert.throws(() => collectionSize(database, 1, { onPage }), /over/);
    assert.ok(measure(database, 1).bytes > 0, "the connection can be used again");
  });
});

function collection(number: number): NumberedCollection {
  return { ...declaration(`c${number}`), number } as NumberedCollection;
}

const asked = (number: number, sequence = 0) => ({ collection: collection(number), sequence, count: 100 });

describe("a size is read", () => {
  test("again only after many changes, or a long time", async () => {
    let now = 0;
    let reads = 0;
    const sizes = new Sizes({ measure: async () => ++reads, maxWaitMs: 1_000_000, now: () => now });
    const size = async (sequence: number) => (await sizes.of([asked(1, sequence)])).get("c1");
    assert.equal(await size(1_000), 1);
    assert.equal(await size(1_005), 1);
    assert.equal(await size(1_006), 2);
    now = 300_000;
    assert.equal(await size(1_006), 2);
    now = 300_001;
    assert.equal(await size(1_006), 3);
  });

  test("after the others, and once for several callers", async () => {
    let running = 0;
    const reads: string[] = [];
    const sizes = new Sizes({
      maxWaitMs: 1_000_000,
      async measure({ name }) {
        assert.equal(++running, 1);
        reads.push(name);
        await new Promise(setImmediate);
        running--;
        return 7;
      },
    });
    const both = await Promise.all([sizes.of([asked(1), asked(2)]), sizes.of([asked(2), asked(1)])]);
    for (const found of both)
      assert.deepEqual(
        new Map(found),
        new Map([
          ["c1", 7],
          ["c2", 7],
        ]),
      );
    assert.deepEqual(reads.toSorted(), ["c1", "c2"]);
  });

  test("for a later call, if it takes too long, and fails alone", async () => {
    const slow = Promise.withResolvers<number>();
    const reads: string[] = [];
    const sizes = new Sizes({
      maxWaitMs: 1,
      measure({ name }) {
        reads.push(name);
        if (name === "c2") return Promise.reject(new Error("broken"));
        return name === "c1" ? slow.promise : Promise.resolve(3);
      },
    });
    assert.deepEqual([...(await sizes.of([asked(1), asked(3)]))], []);
    assert.deepEqual([...(await sizes.of([asked(3)]))], []);
    assert.deepEqual(reads, ["c1"], "nothing is read for callers that wait no more");
    slow.resolve(5);
    await new Promise(setImmediate);
    const patient = new Map(await sizes.of([asked(1)]));
    assert.deepEqual(patient, new Map([["c1", 5]]));
    assert.deepEqual([...(await sizes.of([asked(2)]))], []);
    assert.deepEqual(reads, ["c1", "c2"]);
  });
});
