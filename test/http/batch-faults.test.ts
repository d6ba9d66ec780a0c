import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { parseBatch } from "../../src/http/many/batch-content.ts";
import { defaultLimits } from "../../src/http/settings.ts";

test("a batch of very many faults is looked through no further than an answer shows", () => {
  const names = Array.from({ length: 2_000 }, (_, n) => [`metod${n}`, n]);
  const headers = Object.fromEntries(names);
  for (const each of [Object.fromEntries(names), { method: "POST", path: "/topics", headers }]) {
    const operations = Array.from({ length: 20 }, () => each);
    assert.throws(
      () => parseBatch(Buffer.from(JSON.stringify({ operations })), defaultLimits),
      (error) => error instanceof Problem && error.violations.length >= 50 && error.violations.length < 60,
    );
  }
});
