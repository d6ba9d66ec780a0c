import assert from "node:assert/strict";
import { Problem, type ProblemCode } from "../../src/errors.ts";

/** Fails unless it throws, or rejects with, a problem of this code. */
export async function refuses(code: ProblemCode, work: () => unknown, detail = /./): Promise<void> {
  await assert.rejects(
    async () => work(),
    (error) => {
      assert.ok(error instanceof Problem, String(error));
      assert.equal(error.code, code, error.message);
      assert.match(error.message, detail);
      return true;
    },
  );
}
