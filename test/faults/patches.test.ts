import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { test } from "node:test";
import { readFaults } from "./faults.ts";
import { requireApplicable } from "./patched.ts";

const patches = [...globSync("test/faults/patches/*.patch"), ...globSync("test/explorer/sabotage/*.patch")];

test("there are patches in both folders", () => {
  assert.ok(patches.filter((patch) => patch.includes("faults")).length >= 30);
  assert.ok(patches.some((patch) => patch.includes("sabotage")));
});

for (const patch of patches) {
  test(`${patch} applies to the present sources. If not, make it again from its first sentence`, async () => {
    await requireApplicable(patch);
  });
}

test("every fault names a test file that exists", () => {
  const missing = readFaults().filter(({ test }) => !existsSync(test));
  assert.deepEqual(missing, []);
});
