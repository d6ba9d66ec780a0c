/** Faults of `json`, `collection` and `query`. */
import type { Fault } from "../faults.ts";

export const dataFaults: readonly Fault[] = [
  {
    name: "json-depth",
    what: "The value that a JSON Patch makes can be one level deeper than the limit.",
    noticedBy: "test/json/json-patch",
    replacements: [["if (depth >= limits.depth) return false;", "if (depth > limits.depth) return false;"]],
  },
  {
    name: "unique-case",
    what: "With ignoreCase, letters outside ASCII are compared without case too, but only in memory.",
    noticedBy: "test/collection/unique",
    replacements: [["text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())", "text.toLowerCase()"]],
  },
  {
    name: "unique-filter-ignored",
    what: "Resources that the filter of a unique attribute does not match can conflict.",
    noticedBy: "test/collection/unique",
    replacements: [
      ["if (where !== undefined && !matches(where.filter as Filter, resource)) return undefined;", ""],
    ],
  },
  {
    name: "unique-in-parts",
    what: "A combination of unique attributes conflicts although one of its values is missing.",
    noticedBy: "test/collection/unique",
    replacements: [
      [
        "    if (value === undefined) return undefined;\n    values.push(value);",
        '    values.push(value ?? "");',
      ],
    ],
  },
  {
    name: "date-to-milliseconds",
    what: "A filter by a date ignores the digits after its milliseconds.",
    noticedBy: "test/http/instants",
    replacements: [["return new Date(ms).toISOString() + rest;", "return new Date(ms).toISOString();"]],
  },
  {
    name: "digits-not-numbers",
    what: "Natural order compares digits as letters.",
    noticedBy: "test/query/natural-order",
    replacements: [["return folded.replace(/[0-9]+/g, numberOf) +", "return folded +"]],
  },
  {
    name: "accents-unique",
    what: "A unique attribute that ignores accents ignores only the case.",
    noticedBy: "test/http/unique-folded",
    replacements: [
      [
        'if (ignore === "accents") return foldText(text);',
        'if (ignore === "accents") return foldCase(text);',
      ],
    ],
  },
  {
    name: "negation-of-one-object",
    what: "A negated condition about the objects of an array is about one of them, not about all.",
    noticedBy: "test/http/lists-items",
    replacements: [
      [
        '({ kind: "any", path, filter }), condition)',
        '({ kind: "any", path, filter: negated ? { kind: "not", filter } : filter }), condition)',
      ],
    ],
  },
  {
    name: "dates-sorted-as-texts",
    what: "A list is sorted by the texts of dates, not by their instants.",
    noticedBy: "test/http/instants",
    replacements: [
      ['{ as: "natural" as const } : comparedAs(attribute);', '{ as: "natural" as const } : {};'],
    ],
  },
  {
    name: "now-kept",
    what: "A filter that compares with now is read once, and finds the same for ever.",
    noticedBy: "test/http/instants",
    replacements: [["if (!isShared || isRelative(request.filter)) return", "if (!isShared) return"]],
  },
  {
    name: "now-tagged",
    what: "A list by a filter that compares with now has an ETag, and is not modified later.",
    noticedBy: "test/http/instants",
    replacements: [["isRelative(query.filter) || isRelative(query.visibleFilter)", "query.filter === null"]],
  },
  {
    name: "now-of-the-first-request",
    what: "A rule that compares with now uses the time of the first request of a caller.",
    noticedBy: "test/http/instants",
    replacements: [
      [
        'if (typeof allowed === "string" || !isRelative(allowed)) allowed',
        "if (isRelative !== undefined) allowed",
      ],
    ],
  },
  {
    name: "claims-judged",
    what: "A rule lets a caller see nothing if one of several values of a claim is not in the schema.",
    noticedBy: "test/access/where",
    replacements: [["unjudged?.has(comparison.written) !== true", "!(unjudged?.has(undefined) === true)"]],
  },
  {
    name: "cursor-of-other-search",
    what: "A cursor does not contain the words of the search, so it also works for another search.",
    noticedBy: "test/query/cursor",
    replacements: [
      ["timelessText([collection, filter, sort, words, ...(", "timelessText([collection, filter, sort, ...("],
    ],
  },
  {
    name: "update-inexact-sum",
    what: "$increment stores a sum that JSON numbers cannot have exactly.",
    noticedBy: "test/http/update",
    replacements: [["if (Math.abs(sum) > Number.MAX_SAFE_INTEGER) {", "if (!Number.isFinite(sum)) {"]],
  },
  {
    name: "update-overlap",
    what: "An update can change an attribute and a part of the same attribute.",
    noticedBy: "test/http/update",
    replacements: [
      [
        "  if (overlap === undefined) return;\n  const detail",
        "  if (overlap?.inner.length !== 0) return;\n  const detail",
      ],
    ],
  },
];
