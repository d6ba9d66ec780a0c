import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { ListStatements } from "../../src/store/sqlite/read/reader.ts";

/** A statement of a given length. */
function sqlOf(n: number, length: number): string {
  return `select ${n} `.padEnd(length);
}

test("a list is prepared once, also after many other short lists", () => {
  const statements = new ListStatements(new DatabaseSync(":memory:"));
  const first = statements.get(sqlOf(0, 100));
  assert.deepEqual(first.get(), [0]);
  for (let n = 1; n < 200; n++) statements.get(sqlOf(n, 100));
  assert.equal(statements.get(sqlOf(0, 100)), first);
});

test("the statements that are kept have a limit in bytes", () => {
  const statements = new ListStatements(new DatabaseSync(":memory:"));
  const first = statements.get(sqlOf(0, 100));
  for (let n = 1; n < 20; n++) statements.get(sqlOf(n, 20_000));
  assert.notEqual(statements.get(sqlOf(0, 100)), first, "twenty long statements displace it");
});

test("a statement that is too long is not kept", () => {
  const statements = new ListStatements(new DatabaseSync(":memory:"));
  const short = statements.get(sqlOf(0, 100));
  const long = statements.get(sqlOf(1, 100_000));
  assert.deepEqual(long.get(), [1]);
  assert.notEqual(statements.get(sqlOf(1, 100_000)), long);
  assert.equal(statements.get(sqlOf(0, 100)), short);
});
