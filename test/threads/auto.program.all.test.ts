/** How many threads a service has if its configuration does not say it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { startServer, threadsFor } from "../../src/server.ts";
import { makeFolder } from "../folder.ts";

test("one processor remains for the store, and one service does not use all connections of a database", () => {
  const processors = [1, 2, 3, 4, 5, 8, 17, 18, 64];
  const onSqlite = processors.map((count) => threadsFor("sqlite", count));
  assert.deepEqual(onSqlite, [1, 1, 2, 3, 4, 7, 16, 16, 16]);
  const onPostgres = processors.map((count) => threadsFor("postgres", count));
  assert.deepEqual(onPostgres, [1, 1, 2, 3, 4, 4, 4, 4, 4]);
});

test("a service has the threads for the processors of the machine, or those of its configuration", async () => {
  for (const [flags, expected] of [
    [{}, threadsFor("sqlite")],
    [{ threads: "auto" }, threadsFor("sqlite")],
    [{ threads: "3" }, 3],
  ] as const) {
    const config = await loadConfig({ flags: { port: "0", ...flags }, env: {}, cwd: makeFolder() });
    const server = await startServer({ ...config, drainDelayMs: 0 });
    assert.equal(server.threads, expected);
    await server.stop();
  }
});
