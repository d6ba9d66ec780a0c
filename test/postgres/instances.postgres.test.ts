/** Several instances on one database: what each was told is true for all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import type { Problem } from "../../src/errors.ts";
import { checksumOfDeleted } from "../../src/store/core/checksums.ts";
import { openStore } from "../../src/store/open.ts";
import type { Commit } from "../../src/store/port/commit.ts";
import { toPlace } from "../../src/store/port/log-place.ts";
import type { Store } from "../../src/store/port/store.ts";
import { declaration } from "../store/contract/fixture.ts";
import { ceilingMs, machineTime, until } from "../until.ts";
import { openDatabase, query } from "./databases.ts";

const counters = declaration("counters", {
  idKind: "integer",
  unique: [{ path: ["mark"], ignoreCase: false }],
});
const plain = declaration("plain");

async function openThree(url: string): Promise<Store[]> {
  return Promise.all(
    [1, 2, 3].map(() =>
      openStore({ kind: "postgres", url }, { responseMs: ceilingMs, connectMs: ceilingMs }),
    ),
  );
}

test("instances that start at once on an empty database make one store", async () => {
  const { url, release } = await openDatabase({ isEmpty: true });
  const stores = await openThree(url);
  await Promise.all(stores.map((store) => store.migrate([plain, counters])));
  const [first, second, third] = stores as [Store, Store, Store];
  await first.commit({
    changes: [{ key: { collection: "plain", id: "a" }, expect: "absent", next: "{}" }],
    at: 1,
  });
  assert.equal((await third.read({ collection: "plain", id: "a" }))?.version, 1);
  await second.migrate([{ ...plain, name: "later" }]);
  assert.equal(first.collections().has("later"), false);
  assert.deepEqual([...(await first.collectionNames())].sort(), ["counters", "later", "plain"]);
  const key = { collection: "later", id: "b" };
  await third.commit({ changes: [{ key, expect: "absent", next: "{}" }], at: 1 });
  assert.equal((await first.read(key))?.version, 1);
  await Promise.all(stores.map((store) => store.close()));
  await release();
});

test("what is declared holds for all instances, also those that did not know of it yet", async () => {
  const { url, release } = await openDatabase();
  const stores = await openThree(url);
  const [first, second, third] = stores as [Store, Store, Store];
  await first.migrate([{ ...counters, unique: [] }]);
  for (const store of stores) await store.count("counters"); // each knows it without
  await second.migrate([counters]);
  const marks = Array.from({ length: 30 }, (_, n) => `m${n % 10}`);
  const taken = new Map<string, number>();
  await Promise.all(
    marks.map(async (mark, n) => {
      const store = stores[n % 3] as Store;
      const id = String(await store.reserveIds("counters", 1));
      const next = JSON.stringify({ id: Number(id), mark });
      try {
        await store.commit({
          changes: [{ key: { collection: "counters", id }, expect: "absent", next }],
          at: 1,
        });
        taken.set(mark, (taken.get(mark) ?? 0) + 1);
      } catch (error) {
        assert.equal((error as Problem).code, "UNIQUE_VIOLATION");
      }
    }),
  );
  assert.deepEqual(
    [...taken.values()],
    Array.from({ length: 10 }, () => 1),
  );
  assert.equal(await third.count("counters"), 10);
  const { rows } = await query(url, "select sequence, count from holdfast_heads where number = 1");
  assert.deepEqual(rows, [{ sequence: "10", count: "10" }]);
  await Promise.all(stores.map((store) => store.close()));
  await release();
});

/** Makes all instances create a resource at the same time, in many rounds. Returns the error codes of the refused creates. */
async function createAtOnce(
  stores: readonly Store[],
  commitOf: (round: number, id: string) => Pick<Commit, "receipt"> & { mark: string },
): Promise<Set<string>> {
  const codes = new Set<string>();
  for (let round = 0; round < 20; round++) {
    const ended = await Promise.allSettled(
      stores.map(async (store) => {
        const id = String(await store.reserveIds("counters", 1));
        const { mark, ...more } = commitOf(round, id);
        const next = JSON.stringify({ id: Number(id), mark });
        const key = { collection: "counters", id };
        await store.commit({ changes: [{ key, expect: "absent", next }], at: machineTime(), ...more });
      }),
    );
    const refused = ended.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    assert.equal(refused.length, stores.length - 1, `round ${round}`);
    for (const { reason } of refused) codes.add((reason as Problem).code);
  }
  return codes;
}

test("of creates with one unique value at the same time, one instance accepts one", async () => {
  const { url, release } = await openDatabase();
  const stores = await openThree(url);
  await stores[0]?.migrate([counters]);
  const codes = await createAtOnce(stores, (round) => ({ mark: `m${round}` }));
  assert.deepEqual([...codes], ["UNIQUE_VIOLATION"]);
  assert.equal(await stores[0]?.count("counters"), 20);
  await Promise.all(stores.map((store) => store.close()));
  await release();
});

test("of creates with one Idempotency-Key at the same time, one instance accepts one", async () => {
  const { url, release } = await openDatabase();
  const stores = await openThree(url);
  await stores[0]?.migrate([{ ...counters, unique: [] }]);
  const expiresAt = machineTime() + 3_600_000;
  const codes = await createAtOnce(stores, (round, id) => ({
    mark: id,
    receipt: { key: `key ${round}`, fingerprint: "", answer: id, expiresAt },
  }));
  assert.deepEqual([...codes], ["IDEMPOTENCY_KEY_REUSED"]);
  assert.equal(await stores[0]?.count("counters"), 20);
  await Promise.all(stores.map((store) => store.close()));
  await release();
});

const people = declaration("people");
const imported = declaration("imported", {
  idKind: "integer",
  unique: [{ path: ["mark"], ignoreCase: false }],
  references: [{ path: ["by"], collection: "people", onDelete: "cascade" }],
});
const put = (collection: string, id: string, more = {}) => ({
  key: { collection, id },
  expect: "absent" as const,
  next: JSON.stringify({ id, ...more }),
});
const waits = { code: "UNAVAILABLE", message: /^An import or a rewind is in progress/ };

test("while an import or a rewind is in progress, no instance waits with writes to other collections", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const open = () => openStore({ kind: "postgres", url }, { importWaitMs: 300 });
  const stores = [await open(), await open()] as const;
  t.after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    releaseLater();
  });
  const [first] = stores;
  await first.migrate([plain, people, counters, imported]);
  await first.commit({ changes: [put("people", "ada"), put("people", "kim"), put("imported", "1")], at: 1 });
  let made = 0;
  const others = async (store: Store, ids: readonly string[]) => {
    const id = `o${++made}`;
    const write = (change: Commit["changes"][number]) => store.commit({ changes: [change], at: 1 });
    // Together, so that they would share a transaction with those that must wait.
    const held = [
      write({ key: { collection: "imported", id: "1" }, expect: 1, next: '{"id":1,"n":2}' }),
      write(put("imported", `${50 + made}`)),
      store.reserveIds("imported", 1),
    ];
    const refused = held.map((promise) => assert.rejects(promise, waits));
    await write(put("plain", id));
    await write({ key: { collection: "plain", id }, expect: 1, next: undefined });
    await store.reserveIds("counters", 1);
    await store.migrate([declaration(`new${made}`)]);
    await write(put(`new${made}`, id));
    const { items } = await store.list({ collection: "imported", limit: 9 });
    assert.deepEqual(
      items.map(({ id }) => id),
      ids,
    );
    await Promise.all(refused);
    return write;
  };
  const load = await first.load("imported");
  await load.add([{ id: "7", text: '{"id":7,"mark":"m","by":"ada"}' }]);
  assert.equal(await load.reserveIds(1), 8);
  for (const store of stores) {
    const write = await others(store, ["1"]);
    await write(put("people", `p${made}`));
    await write({
      key: { collection: "people", id: `p${made}` },
      expect: 1,
      next: `{"id":"p${made}","n":2}`,
    });
    // The import can refer to it.
    await assert.rejects(
      write({ key: { collection: "people", id: "ada" }, expect: 1, next: undefined }),
      waits,
    );
  }
  await load.finish();
  for (const store of stores) await first.exclusively(["imported"], () => others(store, ["1", "7"]));
  await stores[1].commit({
    changes: [{ key: { collection: "people", id: "ada" }, expect: 1, next: undefined }],
    at: 1,
  });
  assert.equal(await first.count("imported"), 1);
});

test("while a rewind writes, a write to the same resource does not hold up writes to other collections", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const open = () => openStore({ kind: "postgres", url });
  const [first, second] = [await open(), await open()];
  t.after(async () => {
    await Promise.all([first.close(), second.close()]);
    releaseLater();
  });
  await first.migrate([plain, people]);
  await first.commit({ changes: [put("people", "a"), put("people", "b")], at: 1 });
  const blocker = new pg.Client({ connectionString: url });
  await blocker.connect();
  t.after(() => blocker.end());
  await blocker.query("begin; select 1 from holdfast_resources_2 where key = 'b' for update");
  const change = (id: string) =>
    ({ key: { collection: "people", id }, expect: 1, next: `{"id":"${id}","n":2}` }) as const;
  const rewound = first.exclusively(["people"], (commit) =>
    commit({ changes: [change("a"), change("b")], at: 2, whole: new Map([["people", toPlace(2)]]) }),
  );
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until("the rewind has locked one resource", async () => (await query(url, waiting)).rows.length > 0);
  const held = second.commit({ changes: [change("a")], at: 3 });
  const refused = assert.rejects(held, { code: /^(PRECONDITION_FAILED|UNAVAILABLE)$/ });
  await second.commit({ changes: [put("plain", "c")], at: 3 });
  assert.equal(await second.count("plain"), 1);
  await blocker.query("commit");
  await rewound;
  await refused;
});

test("a delete that clears a reference and a create in another instance never make two resources equal", async () => {
  const { url, release } = await openDatabase();
  const stores = await openThree(url);
  const [first, second] = stores as [Store, Store];
  const where = {
    declared: { team: { exists: false } },
    paths: [["team"]] as const,
    filter: { kind: "exists", path: ["team"] as const, value: false },
  };
  await first.migrate([
    declaration("teams"),
    declaration("members", {
      unique: [{ path: ["name"], others: [{ path: ["n"] }], ignoreCase: false, where }],
      references: [{ path: ["team"], collection: "teams", onDelete: "clear" }],
    }),
  ]);
  const create = (collection: string, id: string, attributes: object = {}) => ({
    key: { collection, id },
    expect: "absent" as const,
    next: JSON.stringify({ id, ...attributes }),
  });
  for (let n = 0; n < 20; n++) {
    const value = { name: "kim", n };
    await first.commit({
      changes: [create("teams", `t${n}`), create("members", `a${n}`, { ...value, team: `t${n}` })],
      at: 1,
    });
    const outcomes = await Promise.allSettled([
      first.commit({
        changes: [{ key: { collection: "teams", id: `t${n}` }, expect: 1, next: undefined }],
        at: 2,
      }),
      second.commit({ changes: [create("members", `b${n}`, value)], at: 2 }),
    ]);
    const refused = outcomes.filter((each) => each.status === "rejected");
    assert.equal(refused.length, 1, `round ${n}`);
    assert.match((refused[0] as PromiseRejectedResult).reason.code, /^(?:REFERENCED|UNIQUE_VIOLATION)$/);
  }
  await Promise.all(stores.map((store) => store.close()));
  await release();
});

test("a create with a chosen id notices that another instance has created and deleted the resource in between", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const store = await openStore({ kind: "postgres", url });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  t.after(async () => {
    await other.end();
    await store.close();
    releaseLater();
  });
  await store.migrate([plain]);
  const create = (last: number) =>
    store.commit({ changes: [{ ...put("plain", "a"), expect: "absent", last }], at: 1 });
  await other.query(
    "begin; insert into holdfast_resources_1 (key, version, updated_at, size, checksum, doc) values ('a', 1, 1, 2, 0, '{}')",
  );
  const late = create(0);
  const refused = assert.rejects(late, { code: "PRECONDITION_FAILED" });
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until("the create waits for the other", async () => (await query(url, waiting)).rows.length > 0);
  await other.query(
    `delete from holdfast_resources_1;
      insert into holdfast_deleted_1 values ('a', 2, ${checksumOfDeleted("plain", { id: "a", version: 2 })}); commit`,
  );
  await refused;
  const [made] = await create(2);
  assert.equal(made?.version, 3);
});
