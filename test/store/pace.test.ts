import assert from "node:assert/strict";
import { test } from "node:test";
import { createPace } from "../../src/store/pace.ts";

test("a turn does little for some turns after a read, and much otherwise", () => {
  const pace = createPace();
  const alone = pace.perTurn();
  pace.noteRead();
  const besideReads = Array.from({ length: 16 }, pace.perTurn);
  assert.ok(besideReads.every((pieces) => pieces >= 1 && pieces < alone));
  assert.equal(pace.perTurn(), alone);
});
