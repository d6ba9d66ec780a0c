import assert from "node:assert/strict";
import { test } from "node:test";
import { createBackOff } from "../../src/store/core/back-off.ts";

test("waits grow up to their bound, and are not the same for all", () => {
  const rows = Array.from({ length: 50 }, () => {
    const nextWait = createBackOff({ first: 100, most: 1_000 });
    return Array.from({ length: 6 }, nextWait);
  });
  for (const row of rows) {
    for (const [n, length] of [100, 200, 400, 800, 1_000, 1_000].entries())
      assert.ok(Number(row[n]) >= length / 2 && Number(row[n]) <= length, `${n}: ${row[n]}`);
  }
  assert.ok(new Set(rows.map(([first]) => first)).size > 25);
});
