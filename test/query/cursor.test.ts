import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { formatCursor, parseCursor } from "../../src/query/cursor.ts";

test("a cursor gives its position back to the list that it was made for", () => {
  assert.deepEqual(parseCursor("topics", formatCursor("topics", "7")), "7");
});

test("a cursor of one list is refused by another", () => {
  const cursor = formatCursor("topics", "7");
  for (const list of ["posts", "topic", "topicss", ""])
    assert.throws(
      () => parseCursor(list, cursor),
      (error) => error instanceof Problem && error.code === "INVALID_CURSOR" && error.status === 400,
      list,
    );
});
