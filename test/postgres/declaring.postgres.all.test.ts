/** Declarations that change while instances are at work. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import pg from "pg";
import type { Index } from "../../src/collection/indexes.ts";
import { checksumOfResource } from "../../src/store/core/checksums.ts";
import { openStore } from "../../src/store/open.ts";
import type { ListQuery } from "../../src/store/port/page.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import { declaration } from "../store/contract/fixture.ts";
import { until } from "../until.ts";
import { openDatabase, query } from "./databases.ts";

const plain = declaration("notes", { search: [["text"]] });
const related: CollectionRecord = { ...plain, unique: [{ path: ["mark"], ignoreCase: false }] };

async function openTwo(t: TestContext, record: CollectionRecord): Promise<{ url: string; stores: Store[] }> {
  const { url, releaseLater } = await openDatabase();
  const stores = await Promise.all([1, 2].map(() => openStore({ kind: "postgres", url })));
  t.after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    releaseLater();
  });
  for (const store of stores) await store.migrate([record]);
  return { url, stores };
}

function create(store: Store, id: string, attributes: object = { text: "hello" }): Promise<unknown> {
  const next = JSON.stringify({ id, ...attributes });
  return store.commit({ changes: [{ key: { collection: "notes", id }, expect: "absent", next }], at: 1 });
}

async function untilSomebodyWaits(url: string): Promise<void> {
  const sql = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until("somebody waits", async () => (await query(url, sql)).rows.length > 0);
}

const tablesLocked = `select relname, mode from pg_locks join pg_class on pg_class.oid = relation
  where relname like 'holdfast_%' and locktype = 'relation' and granted and mode in ('ShareLock', 'ExclusiveLock', 'AccessExclusiveLock')`;

test("a declaration and a write that began before it do not wait for each other", async (t) => {
  const { url, stores } = await openTwo(t, related);
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  t.after(() => writer.end());
  // The same order as a write to a collection with unique attributes: first the head, and then the rows.
  await writer.query("begin; select 1 from holdfast_heads where number = 1 for update");
  const migrated = stores[0]?.migrate([
    { ...related, search: [], indexes: [[{ path: ["n"], descending: false }]] },
  ]);
  await untilSomebodyWaits(url);
  assert.deepEqual((await query(url, tablesLocked)).rows, []);
  await writer.query("lock table holdfast_resources_1, holdfast_words_1 in row exclusive mode");
  await writer.query("commit");
  await migrated;
});

test("an instance that does not know yet that nothing is searched any more writes all the same, and says that it cannot search", async (t) => {
  const { stores } = await openTwo(t, plain);
  const [first, second] = stores as [Store, Store];
  await create(first, "a");
  const search = () => first.list({ collection: "notes", limit: 1, words: ["hello"] });
  assert.equal((await search()).items.length, 1);
  await second.migrate([{ ...plain, search: [] }]);
  await assert.rejects(search(), { code: "UNAVAILABLE" });
  await second.migrate([plain]);
  assert.equal((await search()).items.length, 1);
  await second.migrate([{ ...plain, search: [] }]);
  await create(first, "b");
  assert.equal(await first.count("notes"), 2);
});

test("an instance that does not know a new declaration yet erases all the same", async (t) => {
  const { stores } = await openTwo(t, plain);
  const [first, second] = stores as [Store, Store];
  await create(first, "a");
  await second.migrate([{ ...plain, search: [] }]);
  const { resource, changes } = await first.erase({ collection: "notes", id: "a" });
  assert.deepEqual([resource, changes], [true, 1]);
  assert.equal(await second.read({ collection: "notes", id: "a" }), undefined);
});

const byN: Index = [{ path: ["n"], descending: false }];

test("an instance that does not know yet that an index is gone lists what others wrote since", async (t) => {
  const references = [{ path: ["to"] as const, collection: "notes", onDelete: "restrict" as const }];
  const indexes: Index[] = [byN, [{ path: ["to"], descending: false }]];
  const { stores } = await openTwo(t, { ...plain, references, indexes });
  const [first, second] = stores as [Store, Store];
  await create(first, "a", { n: 1 });
  const matching = { kind: "in", path: ["n"], values: [2] } as const;
  const relation = { kind: "inverse", collection: "notes", path: ["to"] } as const;
  const reference = { path: ["to"], type: "string" } as const;
  const ids = async (query: Pick<ListQuery, "filter" | "sort">) =>
    (await first.list({ collection: "notes", limit: 9, ...query })).items.map(({ id }) => id);
  const reads: [read: () => Promise<readonly unknown[]>, expected: readonly unknown[]][] = [
    [() => ids({ filter: matching }), ["b"]],
    [() => ids({ sort: byN }), ["a", "b"]],
    [() => ids({ filter: { kind: "related", relation, filter: matching } }), ["a"]],
    [
      async () => {
        const groups = await first.referring({ collection: "notes", reference, ids: ["a"], limit: 9 });
        return groups[0]?.items.map(({ id }) => id) ?? [];
      },
      ["b"],
    ],
    [
      async () => {
        const contents = { group: [], figures: [{ kind: "count" as const, name: "count" }], sort: [] };
        const query = { collection: "notes", ...contents, filter: matching, limit: 1, offset: 0 };
        return (await first.figures(query)).groups.flat();
      },
      ["1"],
    ],
  ];
  for (const [n, [read, expected]] of reads.entries()) {
    for (const store of stores) await store.migrate([{ ...plain, references, indexes }]);
    await read();
    await second.migrate([{ ...plain, references }]);
    const [id, before] = n === 0 ? ["b", "absent" as const] : ["b", n];
    const next = JSON.stringify({ id, n: 2, to: "a", text: `${n}` });
    await second.commit({ changes: [{ key: { collection: "notes", id }, expect: before, next }], at: 1 });
    assert.deepEqual(await read(), expected);
  }
});

test("an instance that does not know yet that an index of a related collection is gone lists what others wrote since", async (t) => {
  const indexed: CollectionRecord = { ...plain, indexes: [byN] };
  const { stores } = await openTwo(t, indexed);
  const [first, second] = stores as [Store, Store];
  const references = [{ path: ["to"] as const, collection: "notes", onDelete: "restrict" as const }];
  for (const store of stores) await store.migrate([{ ...declaration("links"), references }]);
  const relation = { kind: "reference", collection: "notes", path: ["to"] } as const;
  const filter = { kind: "related", relation, filter: { kind: "in", path: ["n"], values: [2] } } as const;
  const linked = async () => (await first.list({ collection: "links", limit: 9, filter })).items.length;
  assert.equal(await linked(), 0);
  await second.migrate([plain]);
  await create(second, "a", { n: 2 });
  const key = { collection: "links", id: "l" };
  await second.commit({ changes: [{ key, expect: "absent", next: '{"id":"l","to":"a"}' }], at: 1 });
  assert.equal(await linked(), 1);
});

test("an index that is built waits for writes that began before it, and has their resources", async (t) => {
  const { url, stores } = await openTwo(t, plain);
  const [store] = stores as [Store, Store];
  await create(store, "a", { n: 1 });
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  t.after(() => writer.end());
  const b = { id: "b", version: 1, updatedAt: 1, text: '{"id":"b","n":2}' };
  await writer.query(`begin; insert into holdfast_resources_1 (key, version, updated_at, size, checksum, doc)
    values ('b', 1, 1, ${b.text.length}, ${checksumOfResource("notes", b)}, '${b.text}')`);
  const migrated = store.migrate([{ ...plain, indexes: [byN] }]);
  await untilSomebodyWaits(url);
  assert.equal(await store.read({ collection: "notes", id: "b" }), undefined, "reads do not wait");
  await writer.query("commit");
  await migrated;
  const { items } = await store.list({ collection: "notes", limit: 9, sort: byN });
  assert.deepEqual(
    items.map(({ id }) => id),
    ["a", "b"],
  );
});

test("an import that waits for a declaration takes the new one", async (t) => {
  const { url, stores } = await openTwo(t, plain);
  const [store] = stores as [Store, Store];
  const declaring = new pg.Client({ connectionString: url });
  await declaring.connect();
  t.after(() => declaring.end());
  await declaring.query("begin; update holdfast_heads set declared = declared + 1 where number = 1");
  const loading = store.load("notes");
  await untilSomebodyWaits(url);
  await declaring.query("commit");
  const load = await loading;
  await load.add([{ id: "a", text: JSON.stringify({ id: "a", text: "hello" }) }]);
  await load.finish();
  assert.equal((await store.read({ collection: "notes", id: "a" }))?.version, 1);
});

test("an instance whose database was emptied and filled by another neither reads nor writes what took the place of its own", async (t) => {
  const { url, stores } = await openTwo(t, plain);
  const [first, second] = stores as [Store, Store];
  await query(url, "drop schema public cascade; create schema public");
  const other = await openStore({ kind: "postgres", url });
  t.after(() => other.close());
  await other.migrate([{ ...plain, name: "letters" }]);
  await other.commit({
    changes: [{ key: { collection: "letters", id: "a" }, expect: "absent", next: "{}" }],
    at: 1,
  });
  assert.deepEqual((await second.list({ collection: "notes", limit: 9 })).items, []);
  await assert.rejects(create(first, "b"));
  assert.equal(await other.count("letters"), 1);
});

test("a delete that began before a declaration of a reference to its collection follows the reference", async (t) => {
  const { url, stores } = await openTwo(t, plain);
  const [first, second] = stores as [Store, Store];
  await create(first, "a");
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  t.after(() => writer.end());
  await writer.query("begin; select 1 from holdfast_resources_1 for update");
  const change = { key: { collection: "notes", id: "a" }, expect: 1, next: undefined };
  const removed = first.commit({ changes: [change], at: 1 });
  await untilSomebodyWaits(url);
  const referring: CollectionRecord = {
    ...declaration("links"),
    references: [{ path: ["to"], collection: "notes", onDelete: "cascade" }],
  };
  await second.migrate([referring]);
  const link = {
    key: { collection: "links", id: "l" },
    expect: "absent" as const,
    next: '{"id":"l","to":"a"}',
  };
  await second.commit({ changes: [link], at: 1 });
  await first.migrate([referring]); // this instance knows it now
  await writer.query("commit");
  await removed;
  assert.deepEqual([await first.count("notes"), await first.count("links")], [0, 0]);
});
