/** Several stores in one database, each in the schema that its address names. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { StartError } from "../../src/errors.ts";
import { backUpStore, openKeys, openReader, openStore, type StoreAddress } from "../../src/store/open.ts";
import { copy } from "../copy/run.ts";
import { makeFolder } from "../folder.ts";
import { commit, created, declaration, topic, updated } from "../store/contract/fixture.ts";
import { machineTime } from "../until.ts";
import { databaseFor, query } from "./databases.ts";

/** A database with schemas. Returns its address, and that of a store with a search path. */
async function openSchemas(
  t: TestContext,
  schemas: readonly string[],
): Promise<{ url: string; at(path: string): StoreAddress & { kind: "postgres" } }> {
  const url = await databaseFor(t, { isEmpty: true });
  for (const schema of schemas) await query(url, `create schema ${schema}`);
  return {
    url,
    at(path) {
      const address = new URL(url);
      address.searchParams.set("options", `-csearch_path=${path}`);
      return { kind: "postgres", url: address.href };
    },
  };
}

/** The number of tables and indexes of a schema. */
async function countIn(url: string, schema: string): Promise<number> {
  const { rows } = await query(
    url,
    `select count(*)::int as n from pg_class where relnamespace = '${schema}'::regnamespace`,
  );
  return rows[0].n;
}

const notes = declaration("notes", {
  indexes: [[{ path: ["n"], descending: false }]],
  search: [["text"]],
  unique: [{ path: ["n"], ignoreCase: false }],
});

const ids = ["a", "b", "c"];

/** Fills a store whose texts contain a word. */
async function fill(address: StoreAddress, word: string): Promise<void> {
  const store = await openStore(address);
  await store.migrate([notes]);
  for (const [n, id] of ids.entries()) {
    const receipt = { key: id, fingerprint: word, answer: word, expiresAt: machineTime() * 2 };
    const change = created({ collection: "notes", id }, { n, text: word });
    await commit(store, [change], { receipt, at: machineTime() });
  }
  await store.close();
}

/** The texts of all resources of a store, by their search words too. */
async function textsIn(address: StoreAddress, word: string): Promise<unknown[]> {
  const store = await openStore(address);
  const list = { collection: "notes", limit: 10 };
  const found = [await store.list(list), await store.list({ ...list, words: [word] })];
  await store.close();
  return found.map(({ items }) => items.map(({ text }) => (JSON.parse(text) as { text: unknown }).text));
}

/** All rows of all tables of a schema. */
async function contentsOf(url: string, schema: string): Promise<string> {
  const { rows } = await query(
    url,
    `select schema_to_xml((parse_ident('${schema}'))[1], true, false, '')::text as all`,
  );
  return rows[0].all;
}

test("stores in several schemas of one database know nothing of each other", async (t) => {
  const { url, at } = await openSchemas(t, ["shop", '"Zwei"']);
  await fill(at("shop"), "one");
  await fill(at('"Zwei"'), "two");
  await fill(at("public"), "three");
  const before = [await contentsOf(url, '"Zwei"'), await contentsOf(url, "public")];
  assert.match(before[0] ?? "", /<word>two</);
  assert.match(before[1] ?? "", /<holdfast_words_1>/);
  const store = await openStore(at("shop"), { history: "none" });
  await commit(store, [updated({ collection: "notes", id: "b" }, 1)]);
  await store.erase({ collection: "notes", id: "a" });
  await store.migrate([declaration("notes"), declaration("others")]); // removes the words and the indexes
  await store.close();
  assert.deepEqual([await contentsOf(url, '"Zwei"'), await contentsOf(url, "public")], before);
  assert.deepEqual(await textsIn(at('"Zwei"'), "two"), [ids.map(() => "two"), ids.map(() => "two")]);
  assert.deepEqual(await textsIn(at("public"), "three"), [ids.map(() => "three"), ids.map(() => "three")]);
});

test("a backup and a copy take the store of one schema, and leave the others as they are", async (t) => {
  const { url, at } = await openSchemas(t, ["shop", '"Zwei"', "other"]);
  await fill(at("shop"), "one");
  await fill(at('"Zwei"'), "two");
  const before = [await contentsOf(url, "shop"), await contentsOf(url, '"Zwei"')];
  await copy(at('"Zwei"'), at("other"));
  const folder = makeFolder();
  const file = join(folder, "backup.db");
  await backUpStore(at('"Zwei"'), file, {});
  assert.deepEqual([await contentsOf(url, "shop"), await contentsOf(url, '"Zwei"')], before);
  for (const address of [at("other"), { kind: "sqlite", path: file } as const])
    assert.deepEqual(await textsIn(address, "two"), [ids.map(() => "two"), ids.map(() => "two")]);
});

test("the tables are made in the first schema of the search path, and in no other", async (t) => {
  const { url, at } = await openSchemas(t, ["shop", "other"]);
  const store = await openStore(at("shop,public,other"));
  t.after(() => store.close());
  await store.migrate([declaration("topics", { search: [["title"]], indexes: [] })]);
  assert.ok((await countIn(url, "shop")) > 10);
  assert.deepEqual([await countIn(url, "public"), await countIn(url, "other")], [0, 0]);
});

test("an incomplete copy in another schema of the search path is no copy into this store", async (t) => {
  const { url, at } = await openSchemas(t, ["shop", "other"]);
  await query(url, "create table other.holdfast_copying (name text primary key, mark text not null)");
  const address = at("shop,other");
  const store = await openStore(address);
  t.after(() => store.close());
  await store.migrate([declaration("topics")]);
  await commit(store, [created(topic("a"))]);
  assert.deepEqual([...(await store.collectionNames())], ["topics"]);
  const reader = await openReader(address);
  t.after(() => reader.close());
  assert.equal(reader.count("topics"), 1);
});

test("an address is refused if its search path has another store, or no schema", async (t) => {
  const { url, at } = await openSchemas(t, ["shop", "other"]);
  await (await openStore(at("other"))).close();
  const opened = [openStore, openReader, openKeys];
  const refused = async (path: string, message: RegExp) => {
    for (const open of opened)
      await assert.rejects(open(at(path)), (error: Error) => {
        assert.ok(error instanceof StartError, String(error));
        assert.match(error.message, message);
        return true;
      });
  };
  await refused(
    "shop,other",
    /^The search path is shop,other, and another store is in the schema other\. .* options=-csearch_path%3Dshop\.$/,
  );
  await refused("missing", /^The database has no schema for the tables: the search path is missing\. /);
  assert.equal(await countIn(url, "shop"), 0);
});
