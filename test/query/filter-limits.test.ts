/** A filter holds as many conditions as the reference says, in every form. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseListBody } from "../../src/query/query-body.ts";
import { parseList } from "../../src/query/query-string.ts";
import { filterLimits } from "../../src/query/reading.ts";
import { topics } from "./collections.ts";

const list = <T>(length: number, make: (n: number) => T): T[] => Array.from({ length }, (_, n) => make(n));

/** Filters with this many conditions. */
const forms: Record<string, (n: number) => unknown> = {
  "members of one object": (n) => Object.fromEntries(list(n, (each) => [`n${each}`, each])),
  "one or": (n) => ({ or: list(n, (each) => ({ n: each })) }),
  "one and": (n) => ({ and: list(n, (each) => ({ n: { gte: each } })) }),
  "a not around each": (n) => ({ and: list(n - 1, (each) => ({ not: { n: each } })), n: 1 }),
  "operators that negate": (n) => ({ or: list(n, (each) => ({ n: { ne: each } })) }),
  "two operators each": (n) => Object.fromEntries(list(n / 2, (each) => [`n${each}`, { gt: 1, lt: each }])),
};

for (const [form, make] of Object.entries(forms)) {
  test(`${filterLimits.conditions} conditions fit, as ${form}, and more do not`, () => {
    for (const read of [
      (filter: unknown) => parseListBody({ filter }, topics, 1_000),
      (filter: unknown) => parseList(`filter=${encodeURIComponent(JSON.stringify(filter))}`, topics, 1_000),
    ]) {
      assert.ok(read(make(filterLimits.conditions)).filter);
      assert.throws(() => read(make(filterLimits.conditions + 2)), { code: "INVALID_PARAMETER" });
    }
  });
}

test(`${filterLimits.groups} groups fit, and more do not, also empty ones`, () => {
  const read = (n: number) =>
    parseListBody({ filter: { and: list(n - 1, () => ({ or: [] })) } }, topics, 1_000);
  assert.ok(read(filterLimits.groups).filter);
  assert.throws(() => read(filterLimits.groups + 1), { code: "INVALID_PARAMETER" });
});
