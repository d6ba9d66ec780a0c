import assert from "node:assert/strict";
import { test } from "node:test";
import { orderUnits } from "../../src/init/import-order.ts";

const unit = (...names: string[]) => ({ names });
const order = (units: readonly { names: string[] }[], targets: Record<string, string[]>) => {
  const { units: ordered, late } = orderUnits(units, (name) => targets[name] ?? []);
  return { names: ordered.map(({ names }) => names.join("+")), late };
};

test("what is referred to comes first, and otherwise the order stays", () => {
  const targets = { a: ["c"], b: ["a", "b"] };
  assert.deepEqual(order([unit("b"), unit("a"), unit("c"), unit("d")], targets), {
    names: ["c", "a", "b", "d"],
    late: [],
  });
});

test("collections that are imported together can refer to each other", () => {
  const targets = { a: ["b"], b: ["a", "c"] };
  assert.deepEqual(order([unit("a", "b"), unit("c")], targets), { names: ["c", "a+b"], late: [] });
});

test("a circle is broken at its first collection, and the others keep their references", () => {
  const targets = { a: ["b"], b: ["c"], c: ["a"] };
  assert.deepEqual(order([unit("a"), unit("b"), unit("c")], targets), {
    names: ["a", "c", "b"],
    late: [{ from: "a", to: "b" }],
  });
});
