import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { type CursorValues, cursorValuesOf } from "../../src/query/sort.ts";
import { all, declare, fill, is, sortBy } from "./indexes-fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

test("pages with an index follow each other, without gap and without repetition", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await fill(store, all, 200);
  const sort = sortBy("status", "-publishedAt");
  const found: string[] = [];
  let after: CursorValues | undefined;
  do {
    const query = { collection: "articles", limit: 7, filter: is("status", "published"), sort };
    const { items, more } = await store.list({ ...query, ...(after && { after }) });
    found.push(...items.map(({ id }) => id));
    after = more ? cursorValuesOf(JSON.parse(items.at(-1)?.text ?? ""), sort) : undefined;
  } while (after !== undefined);
  assert.equal(found.length, 133);
  assert.equal(new Set(found).size, 133);
});

test("an update moves the entry of a resource, a delete removes it, and a rolled back load leaves none", async (t) => {
  const { path, store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([declare("name")]);
  const key = { collection: "articles", id: "a" };
  const listed = async () => {
    const { items } = await store.list({ collection: "articles", limit: 9, sort: sortBy("name") });
    return items.map(({ text }) => (JSON.parse(text) as { name: string }).name);
  };
  const write = (expect: number | "absent", name: string | undefined) =>
    store.commit({
      changes: [{ key, expect, next: name === undefined ? undefined : JSON.stringify({ id: "a", name }) }],
      at: 1,
    });
  await write("absent", "x");
  await write(1, "y");
  assert.deepEqual(await listed(), ["y"]);
  await write(2, undefined);
  assert.deepEqual(await listed(), []);
  const load = await store.load("articles");
  await load.add([{ id: "b", text: '{"id":"b","name":"b"}' }]);
  await load.cancel();
  await write("absent", "z");
  assert.deepEqual(await listed(), ["z"]);
  const database = new DatabaseSync(path, { readOnly: true });
  t.after(() => database.close());
  assert.equal(database.prepare("select count(*) as n from entries_1").get()?.n, 1);
});
