import assert from "node:assert/strict";
import { test } from "node:test";
import { mutantsOf } from "./mutants.ts";

const source = `export async function first(list: readonly number[]): Promise<number | undefined> {
  if (list.length < 1) throw new Error("é");
  count(list as number[]);
  return (await later) ? list[0] : undefined;
}
`;

test("a source has a mutant for each condition, operator, await, statement and result", () => {
  assert.deepEqual(
    mutantsOf("a.ts", source).map(({ start, end, replacement }) => [source.slice(start, end), replacement]),
    [
      ["list.length < 1", "!(list.length < 1)"],
      ["<", "<="],
      ["count(list as number[]);", ";"],
      ["return (await later) ? list[0] : undefined;", "return undefined;"],
      ["await later", "!(await later)"],
      ["await later", "later"],
    ],
  );
});

test("what changes is named with its line", () => {
  const all = mutantsOf("a.ts", source).map(({ what }) => what);
  assert.equal(all[1], "line 2: < becomes <=");
  assert.equal(all[2], "line 3: count(list as number[]); goes");
});
