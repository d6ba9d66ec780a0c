/** The tags of versions in the console. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutCoding } from "../../console/src/resource/edit.ts";

test("the same version has the same tag, with and without a content coding", () => {
  assert.equal(withoutCoding('"2-gzip"'), '"2"');
  assert.equal(withoutCoding('"2-br"'), '"2"');
  assert.equal(withoutCoding('"2"'), '"2"');
  assert.equal(withoutCoding('"2-Xk3a"'), '"2-Xk3a"');
});
