/** Faults of `json`, `collection` and `query`. */
import type { Fault } from "../faults.ts";

export const dataFaults: readonly Fault[] = [
  {
    name: "json-depth",
    what: "The value that a JSON Patch makes can be one level deeper than the limit.",
    noticedBy: "test/json/json-patch",
    test: "can make a document exactly as deep as the limit, and no deeper",
    replacements: [["if (depth >= limits.depth) return false;", "if (depth > limits.depth) return false;"]],
  },
  {
    name: "unique-case",
    what: "With ignoreCase, letters outside ASCII are compared without case too, but only in memory.",
    noticedBy: "test/collection/unique",
    test: "ignoreCase compares the letters A to Z without case, and no others",
    replacements: [["text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())", "text.toLowerCase()"]],
  },
  {
    name: "unique-filter-ignored",
    what: "Resources that the filter of a unique attribute does not match can conflict.",
    noticedBy: "test/collection/unique",
    test: "a filter compares ids as the collection has them",
    replacements: [
      ["if (where !== undefined && !matches(where.filter as Filter, resource)) return undefined;", ""],
    ],
  },
  {
    name: "unique-in-parts",
    what: "A combination of unique attributes conflicts although one of its values is missing.",
    noticedBy: "test/collection/unique",
    test: "a combination counts only if all its values are there, and only where the filter matches",
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
    test: "a date is compared by its instant: at:lt=2026-11-23T10:00:00.0000001Z",
    replacements: [["return new Date(ms).toISOString() + rest;", "return new Date(ms).toISOString();"]],
  },
  {
    name: "digits-not-numbers",
    what: "Natural order compares digits as letters.",
    noticedBy: "test/query/natural-order",
    test: "puts texts as people do",
    replacements: [["return folded.replace(/[0-9]+/g, numberOf) +", "return folded +"]],
  },
  {
    name: "accents-unique",
    what: "A unique attribute that ignores accents ignores only the case.",
    noticedBy: "test/http/unique-folded",
    test: "a value that differs only in what is ignored is taken, also for 20 clients at once",
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
    test: "a dotted name finds the arrays with an object that matches, and its negation the others",
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
    test: "a list is in the order of the instants, in whatever form the dates are",
    replacements: [
      ['{ as: "natural" as const } : comparedAs(attribute);', '{ as: "natural" as const } : {};'],
    ],
  },
  {
    name: "now-kept",
    what: "A filter that compares with now is read once, and finds the same for ever.",
    noticedBy: "test/http/instants",
    test: "no client stores a response that changes as time passes",
    replacements: [["if (!isShared || isRelative(request.filter)) return", "if (!isShared) return"]],
  },
  {
    name: "now-tagged",
    what: "A list by a filter that compares with now has an ETag, and is not modified later.",
    noticedBy: "test/http/instants",
    test: "the links of such a list lead to all of its resources while time passes",
    replacements: [["isRelative(query.filter) || isRelative(query.visibleFilter)", "query.filter === null"]],
  },
  {
    name: "now-of-the-first-request",
    what: "A rule that compares with now uses the time of the first request of a caller.",
    noticedBy: "test/http/instants",
    test: "a rule that compares with the time of the request is applied when a request comes",
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
    test: "takes the values that the schema allows out of a claim with others",
    replacements: [["unjudged?.has(comparison.written) !== true", "!(unjudged?.has(undefined) === true)"]],
  },
  {
    name: "cursor-of-other-search",
    what: "A cursor does not contain the words of the search, so it also works for another search.",
    noticedBy: "test/query/cursor",
    test: "another filter, sort, search or time is another list",
    replacements: [
      ["timelessText([collection, filter, sort, words, ...(", "timelessText([collection, filter, sort, ...("],
    ],
  },
  {
    name: "update-inexact-sum",
    what: "$increment stores a sum that JSON numbers cannot have exactly.",
    noticedBy: "test/http/update",
    test: "a sum that is not safe is a 400",
    replacements: [["if (Math.abs(sum) > Number.MAX_SAFE_INTEGER) {", "if (!Number.isFinite(sum)) {"]],
  },
  {
    name: "update-overlap",
    what: "An update can change an attribute and a part of the same attribute.",
    noticedBy: "test/http/update",
    test: "a path inside another one is a 400",
    replacements: [
      [
        "  if (overlap === undefined) return;\n  const detail",
        "  if (overlap?.inner.length !== 0) return;\n  const detail",
      ],
    ],
  },
];
