import assert from "node:assert/strict";
import { test } from "node:test";
import { httpDate, judge, lastModifiedMs } from "../../src/http/protocol/conditional.ts";

test("If-Modified-Since makes no 304 while the rounded-up time of the change is still to come", () => {
  const changedAt = Date.UTC(2026, 0, 1, 12, 0, 0, 300);
  const current = { etag: '"1"', lastModifiedMs: lastModifiedMs(changedAt) };
  const headers = { "if-modified-since": httpDate(current.lastModifiedMs) };
  assert.equal(judge(headers, current, changedAt), "proceed");
  assert.equal(judge(headers, current, current.lastModifiedMs - 1), "proceed");
  assert.equal(judge(headers, current, current.lastModifiedMs), "unmodified");
});
