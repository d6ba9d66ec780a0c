/** Errors of the database contain no values of resources, because errors are logged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { openDatabase } from "./databases.ts";

test("an error of the database says what is wrong, and nothing of what was to be written", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const connections = new Connections({ url, max: 1, connectTimeoutMs: 5_000, onIdleError: () => {} });
  t.after(async () => {
    await connections.close();
    releaseLater();
  });
  await connections.run({ sql: "create table kept (key text primary key, small integer check (small < 9))" });
  const insert = (key: string, small: number) =>
    connections.run({ sql: "insert into kept values ($1, $2)", values: [key, small] });
  await insert("canary", 1);
  const raise = "do $$ begin raise 'no' using detail = 'canary'; end $$";
  for (const [code, work] of [
    ["23505", () => insert("canary", 2)],
    ["23514", () => insert("other canary", 9)],
    ["P0001", () => connections.run({ sql: raise })],
    ["P0001", () => connections.use((connection) => connection.runAll(`select 1; ${raise}`))],
  ] as const) {
    await assert.rejects(work(), (error: Error & { code?: string }) => {
      assert.equal(error.code, code);
      assert.doesNotMatch(inspect(error, { depth: 5 }), /canary/);
      return true;
    });
  }
});
