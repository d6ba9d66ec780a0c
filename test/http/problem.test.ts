import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { problemBody } from "../../src/http/problem.ts";

test("of two violations at the same path, errors shows the first", () => {
  const violations = [
    { in: "body", pointer: "#/name", code: "minLength", detail: "the first" },
    { in: "body", pointer: "#/name", code: "pattern", detail: "the second" },
    { in: "body", pointer: "#/age", code: "type", detail: "another" },
  ] as const;
  const body = problemBody(new Problem("VALIDATION_FAILED", "Two faults.", { violations }), "x");
  assert.deepEqual(body.errors, { name: "the first", age: "another" });
  assert.deepEqual(body.violations, violations);
});
