/** The violations that a caller gets who sets a read-only attribute. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assignmentViolations } from "../../src/collection/visibility.ts";

const detailsFor = (hidden: readonly string[]) =>
  assignmentViolations(
    { rank: 2 },
    { rank: 1 },
    { readOnly: new Set(["rank"]), hidden: new Set(hidden), restricted: new Set() },
  ).map(({ detail }) => detail);

test("a read-only attribute can be sent with its current value, unless the caller cannot see that value", () => {
  assert.deepEqual(detailsFor([]), ["is read-only: leave it out, or send its current value"]);
  assert.deepEqual(detailsFor(["rank"]), ["is read-only: leave it out"]);
});
