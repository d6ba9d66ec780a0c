/** Reads of single resources that travel together: one statement reads a limited amount of text. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { openStore } from "../../src/store/open.ts";
import { type Connections, Connections as Open } from "../../src/store/postgres/connection/connections.ts";
import { Reads } from "../../src/store/postgres/read/reads.ts";
import type { NumberedCollection } from "../../src/store/postgres/tables/declared-catalogue.ts";
import { commit, created, declaration, textOf, topic } from "../store/contract/fixture.ts";
import { until } from "../until.ts";
import { openDatabase } from "./databases.ts";

const mebibyte = 1024 * 1024;

interface Opened {
  reads: Reads;
  /** The bytes of text that each statement gave. */
  statements: number[];
}

/** Reads of a database with topics that have these ids and lengths. */
async function open(t: TestContext, topics: Readonly<Record<string, number>>): Promise<Opened> {
  const { url, releaseLater } = await openDatabase();
  const store = await openStore({ kind: "postgres", url });
  const connections: Connections = new Open({ url, max: 4, connectTimeoutMs: 5_000, onIdleError: () => {} });
  t.after(async () => {
    await Promise.all([store.close(), connections.close()]);
    releaseLater();
  });
  await store.migrate([declaration("topics")]);
  for (const [id, length] of Object.entries(topics))
    await commit(store, [created(topic(id), { text: "x".repeat(length) })]);
  const { rows } = await connections.run({ sql: "select number from holdfast_collections" });
  const collection = { number: Number(rows[0]?.[0]), name: "topics", idKind: "uuid" } as NumberedCollection;
  const statements: number[] = [];
  const reads = new Reads({
    maxBatchSize: 1_000,
    find: async (name) => (name === "topics" ? collection : undefined),
    async run(statement) {
      const outcome = await connections.run(statement);
      statements.push(outcome.rows.reduce((sum, row) => sum + (row[3]?.length ?? 0), 0));
      return outcome;
    },
  });
  return { reads, statements };
}

test("one statement reads a limited amount of large resources, and every read gets its resource", async (t) => {
  const large = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`large-${n}`, mebibyte]));
  const small = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`small-${n}`, 10]));
  const sizes: Record<string, number> = { ...large, huge: 6 * mebibyte, ...small };
  const { reads, statements } = await open(t, sizes);
  const ids = [...Object.keys(sizes), "large-3", "unknown", ""];
  const found = await Promise.all(ids.map((id) => reads.resource(topic(id))));
  for (const [n, id] of ids.entries()) {
    const length = sizes[id];
    const expected = length === undefined ? undefined : textOf(id, { text: "x".repeat(length) });
    assert.ok(found[n]?.text === expected, id);
  }
  const others = [...statements].sort((a, b) => a - b);
  assert.ok((others.pop() ?? 0) < 6.1 * mebibyte, `${statements}`);
  assert.ok((others.pop() ?? 0) < 4.1 * mebibyte, `${statements}`);
  await reads.drained();
});

test("small reads do not wait for large ones that are read at the same time", async (t) => {
  const large = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`large-${n}`, mebibyte]));
  const { reads, statements } = await open(t, { ...large, small: 10 });
  const pending = Object.keys(large).map((id) => reads.resource(topic(id)));
  await reads.resource(topic("small"));
  assert.equal(statements.length, 1);
  await Promise.all(pending);
});

test("sizes are missing while another program locks a table, and the call ends", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const store = await openStore({ kind: "postgres", url });
  const locker = new pg.Client({ connectionString: url });
  await locker.connect();
  t.after(async () => {
    await Promise.all([store.close(), locker.end()]);
    releaseLater();
  });
  await store.migrate([declaration("topics"), declaration("users")]);
  await locker.query("begin; lock table holdfast_resources_1");
  assert.deepEqual([...(await store.sizes(["topics", "users"]))], []);
  assert.equal(store.health().kind, "ok");
  await locker.query("rollback");
  await until("the sizes are known", async () => (await store.sizes(["topics", "users"])).size === 2);
});
