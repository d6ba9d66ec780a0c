import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { start } from "../../src/testing.ts";

const config = {
  collections: Object.fromEntries(
    ["articles", "comments"].map((name) => [
      name,
      { schema: { type: "object", properties: { title: { type: "string" } } }, search: ["title"] } as const,
    ]),
  ),
};

/** The calls of SQLite in a piece of work. */
async function callsOf(work: () => Promise<unknown>): Promise<number> {
  const { exec, prepare } = DatabaseSync.prototype;
  let calls = 0;
  DatabaseSync.prototype.exec = function (...args) {
    calls++;
    return exec.apply(this, args);
  };
  DatabaseSync.prototype.prepare = function (...args) {
    calls++;
    return prepare.apply(this, args);
  };
  try {
    await work();
  } finally {
    Object.assign(DatabaseSync.prototype, { exec, prepare });
  }
  return calls;
}

test("a start does little work, and as much after many others as at first", async (t) => {
  const services: Awaited<ReturnType<typeof start>>[] = [];
  t.after(() => Promise.all(services.map((service) => service.stop())));
  const startOne = () =>
    callsOf(async () => {
      const service = await start(config);
      services.push(service);
      assert.equal((await service.fetch("/api/v1/articles")).status, 200);
    });
  const first = await startOne();
  for (let n = 0; n < 20; n++) assert.equal(await startOne(), first);
  assert.ok(first < 150, `${first} calls of SQLite`);
});
