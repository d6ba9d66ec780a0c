import assert from "node:assert/strict";
import { test } from "node:test";
import { createTurnBudget } from "../../src/store/core/turn-budget.ts";

test("a turn does little for some turns after a read, and much otherwise", () => {
  const turnBudget = createTurnBudget();
  const alone = turnBudget.perTurn();
  turnBudget.noteRead();
  const besideReads = Array.from({ length: 16 }, turnBudget.perTurn);
  assert.ok(besideReads.every((pieces) => pieces >= 1 && pieces < alone));
  assert.equal(turnBudget.perTurn(), alone);
});
