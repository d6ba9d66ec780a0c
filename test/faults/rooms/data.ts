/** Faults of `json`, `collection` and `query`. */
import type { Fault } from "../faults.ts";

export const dataFaults: readonly Fault[] = [
  {
    name: "json-depth",
    what: "The value that a JSON Patch makes can be one level deeper than the limit.",
    noticedBy: "test/json/json-patch.test.ts",
    replacements: [["if (depth >= limits.depth) return false;", "if (depth > limits.depth) return false;"]],
  },
  {
    name: "unique-case",
    what: "With ignoreCase, letters outside ASCII are compared without case too, but only in memory.",
    noticedBy: "test/collection/unique.test.ts",
    replacements: [["text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())", "text.toLowerCase()"]],
  },
  {
    name: "date-rounded-up",
    what: "A filter for dates from an instant between two milliseconds on also finds the millisecond before it.",
    noticedBy: "test/http/instants.test.ts",
    replacements: [['isUpwards ? "gt" : "lte", path,', 'isUpwards ? "gte" : "lte", path,']],
  },
  {
    name: "claims-judged",
    what: "A rule lets a caller see nothing if one of several values of a claim is not in the schema.",
    noticedBy: "test/access/where.test.ts",
    replacements: [["unjudged?.has(comparison.written) !== true", "!(unjudged?.has(undefined) === true)"]],
  },
  {
    name: "cursor-of-other-search",
    what: "A cursor does not contain the words of the search, so it also works for another search.",
    noticedBy: "test/query/cursor.test.ts",
    replacements: [
      [
        "JSON.stringify([collection, filter, sort, words, ...(",
        "JSON.stringify([collection, filter, sort, ...(",
      ],
    ],
  },
  {
    name: "update-inexact-sum",
    what: "$increment stores a sum that JSON numbers cannot have exactly.",
    noticedBy: "test/http/update.test.ts",
    replacements: [["if (Math.abs(sum) > Number.MAX_SAFE_INTEGER) {", "if (!Number.isFinite(sum)) {"]],
  },
  {
    name: "update-overlap",
    what: "An update can change an attribute and a part of the same attribute.",
    noticedBy: "test/http/update.test.ts",
    replacements: [
      [
        "  if (overlap === undefined) return;\n  const detail",
        "  if (overlap?.inner.length !== 0) return;\n  const detail",
      ],
    ],
  },
];
