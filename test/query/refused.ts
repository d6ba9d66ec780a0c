/** The refusals of requests, for the tests of this room. */
import assert from "node:assert/strict";
import type { Collection } from "../../src/collection/collection.ts";
import { Problem } from "../../src/errors.ts";
import { parseList } from "../../src/query/query-string.ts";

/** The problem that is thrown; any other error fails the test. */
export function problemOf(act: () => unknown): Problem | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error;
  }
}

/** Fails unless the query string is refused with this code. */
export function isRefused(query: string, collection: Collection, code = "INVALID_PARAMETER"): Problem {
  const problem = problemOf(() => parseList(query, collection, 1000));
  assert.ok(problem !== undefined, `${query} is not refused`);
  assert.equal(problem.code, code, query);
  assert.ok(problem.violations.length > 0);
  return problem;
}
