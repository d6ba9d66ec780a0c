import assert from "node:assert/strict";
import { test } from "node:test";
import { testFileOf } from "../runner/names.ts";
import type { Fault } from "./faults.ts";
import { judge, runFaults } from "./noticed.ts";
import { runFile } from "./run.ts";

const depthCheck = "if (depth >= limits.depth) return false;";

const fault: Fault = {
  name: "too deep",
  what: "The value that a JSON Patch makes can be one level deeper than the limit.",
  noticedBy: "test/json/json-patch",
  test: "can make a document exactly as deep as the limit, and no deeper",
  replacements: [[depthCheck, "if (depth > limits.depth) return false;"]],
};

const errorOf = async (changed: Partial<Fault>) => {
  const { passed, failed } = await runFaults({ some: [{ ...fault, ...changed }] });
  assert.equal(passed, 0);
  return failed[0]?.error ?? "nothing failed";
};

test("a fault is noticed if the test of its row fails with it, and without it the test passes", async () => {
  assert.deepEqual(await runFaults({ some: [fault] }), { passed: 1, failed: [], skipped: [] });
  const { how, hasBegun } = await runFile({ file: testFileOf(fault.noticedBy), test: fault.test });
  assert.deepEqual({ how, hasBegun }, { how: "passes", hasBegun: true });
});

test("a fault escapes if the test passes with it", async () => {
  const harmless = [[depthCheck, `${depthCheck} // as before`]] as const;
  assert.match(await errorOf({ replacements: harmless }), /passes with this fault: The value that/);
});

test("a title that no test has is an error, also if it is the beginning or the end of one", async () => {
  for (const title of ["no such test", "can make a document", "and no deeper"])
    assert.match(await errorOf({ test: title }), /did not run/);
});

test("a file that does not load notices nothing", async () => {
  const broken = [[depthCheck, "if (depth >"]] as const;
  assert.match(await errorOf({ replacements: broken }), /did not run/);
});

test("a test that hangs or ends its process notices the fault, and a skipped one says why it is skipped", () => {
  const end = { hasBegun: true, skipped: [], failed: undefined, error: undefined };
  for (const how of ["hangs", "dies"] as const) {
    assert.equal(judge(fault, { ...end, how }).passed, 1);
    assert.match(judge(fault, { ...end, how, hasBegun: false }).failed[0]?.error ?? "", /did not run/);
  }
  const { passed, skipped } = judge(fault, { ...end, how: "passes", skipped: ["needs strace"] });
  assert.deepEqual([passed, skipped.map(({ reason }) => reason)], [0, ["needs strace"]]);
});
