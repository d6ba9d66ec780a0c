import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../src/errors.ts";
import { applyJsonPatch, type PatchLimits } from "../../src/json/json-patch.ts";
import { findSuite } from "../suites.ts";

const limits: PatchLimits = {
  maxOperations: 1_000,
  maxBytes: 1_048_576,
  json: { depth: 64, members: 10_000 },
};

const apply = (document: unknown, patch: unknown) => applyJsonPatch(document, patch, limits);

function problemOf(document: unknown, patch: unknown): Problem {
  const before = JSON.stringify(document);
  try {
    apply(document, patch);
  } catch (error) {
    assert.ok(error instanceof Problem, `not a problem: ${error}`);
    assert.equal(JSON.stringify(document), before, "a patch that failed left something behind");
    return error;
  }
  throw new Error("the patch was applied");
}

test("the message of a malformed patch says what is invalid, and where", () => {
  assert.equal(
    problemOf({}, [{ op: "remove" }]).message,
    'The patch is invalid: the "path" of operation 0 must be a JSON Pointer such as "/title", or "" for the whole resource.',
  );
});

const sound: [name: string, document: unknown, patch: unknown, result: unknown][] = [
  ["no operation", { a: 1 }, [], { a: 1 }],
  ["add a member", { a: 1 }, [{ op: "add", path: "/b", value: [1] }], { a: 1, b: [1] }],
  ["add over a member", { a: 1 }, [{ op: "add", path: "/a", value: null }], { a: null }],
  ["add into an array", [1, 3], [{ op: "add", path: "/1", value: 2 }], [1, 2, 3]],
  ["add at the length", [1], [{ op: "add", path: "/1", value: 2 }], [1, 2]],
  ["add at the end", [1], [{ op: "add", path: "/-", value: 2 }], [1, 2]],
  ["add the whole", { a: 1 }, [{ op: "add", path: "", value: { b: 2 } }], { b: 2 }],
  ["remove", { a: 1, b: [1, 2] }, [{ op: "remove", path: "/b/0" }], { a: 1, b: [2] }],
  ["replace", { a: [1] }, [{ op: "replace", path: "/a/0", value: 2 }], { a: [2] }],
  ["move", { a: { b: 1 }, c: {} }, [{ op: "move", from: "/a/b", path: "/c/d" }], { a: {}, c: { d: 1 } }],
  ["move onto itself", { a: 1 }, [{ op: "move", from: "/a", path: "/a" }], { a: 1 }],
  [
    "copy",
    { a: [1] },
    [
      { op: "copy", from: "/a", path: "/b" },
      { op: "add", path: "/a/-", value: 2 },
    ],
    { a: [1, 2], b: [1] },
  ],
  [
    "test by value",
    { a: { x: 1, y: [2.0] } },
    [{ op: "test", path: "/a", value: { y: [2], x: 1 } }],
    { a: { x: 1, y: [2] } },
  ],
  [
    "escapes, ~01 being ~1",
    { "~1": 1, "a/b": 2 },
    [
      { op: "remove", path: "/~01" },
      { op: "remove", path: "/a~1b" },
    ],
    {},
  ],
  ["an empty name", { "": 1 }, [{ op: "replace", path: "/", value: 2 }], { "": 2 }],
  ["unknown members of an operation", {}, [{ op: "add", path: "/a", value: 1, comment: "x" }], { a: 1 }],
];

const refused: [name: string, document: unknown, patch: unknown, code: string, pointer?: string][] = [
  ["an object", {}, {}, "INVALID_PATCH"],
  ["an operation that is no object", {}, [1], "INVALID_PATCH", "#/0"],
  ["an unknown op", {}, [{ op: "spam", path: "/a" }], "INVALID_PATCH", "#/0/op"],
  ["an op of the prototype", {}, [{ op: "toString", path: "/a" }], "INVALID_PATCH", "#/0/op"],
  ["no path", {}, [{ op: "remove" }], "INVALID_PATCH", "#/0/path"],
  ["no value", {}, [{ op: "add", path: "/a" }], "INVALID_PATCH", "#/0/value"],
  ["no from", {}, [{ op: "copy", path: "/a" }], "INVALID_PATCH", "#/0/from"],
  ["a path without a slash", {}, [{ op: "remove", path: "a" }], "INVALID_PATCH", "#/0/path"],
  ["a bad escape", {}, [{ op: "remove", path: "/~2" }], "INVALID_PATCH", "#/0/path"],
  ["a leading zero", { a: [1, 2] }, [{ op: "remove", path: "/a/01" }], "INVALID_PATCH", "#/0/path"],
  ["a word for an index", { a: [1] }, [{ op: "add", path: "/a/x", value: 1 }], "INVALID_PATCH", "#/0/path"],
  [
    "a move into itself",
    { a: { b: 1 } },
    [{ op: "move", from: "/a", path: "/a/b" }],
    "INVALID_PATCH",
    "#/0/path",
  ],
  ["a fault after a conflict", {}, [{ op: "remove", path: "/x" }, { op: "spam" }], "INVALID_PATCH", "#/1/op"],
  [
    "a false test",
    { a: 1 },
    [
      { op: "add", path: "/b", value: 1 },
      { op: "test", path: "/a", value: "1" },
    ],
    "PATCH_CONFLICT",
    "#/1/path",
  ],
  ["a missing member", { a: 1 }, [{ op: "remove", path: "/b" }], "PATCH_CONFLICT", "#/0/path"],
  ["a member of the prototype", {}, [{ op: "remove", path: "/toString" }], "PATCH_CONFLICT", "#/0/path"],
  ["a missing source", {}, [{ op: "copy", from: "/b", path: "/c" }], "PATCH_CONFLICT", "#/0/from"],
  ["a missing parent", {}, [{ op: "add", path: "/a/b", value: 1 }], "PATCH_CONFLICT", "#/0/path"],
  ["an index beyond the end", [1], [{ op: "add", path: "/2", value: 1 }], "PATCH_CONFLICT", "#/0/path"],
  ["- outside of add", [1], [{ op: "remove", path: "/-" }], "INVALID_PATCH", "#/0/path"],
  [
    "a way through a string",
    { a: "b" },
    [{ op: "test", path: "/a/0", value: "b" }],
    "PATCH_CONFLICT",
    "#/0/path",
  ],
];

describe("a JSON Patch", () => {
  for (const [name, document, patch, result] of sound) {
    test(`applies: ${name}`, () => {
      const before = JSON.stringify(document);
      assert.deepEqual(apply(document, patch), result);
      assert.equal(JSON.stringify(document), before, "the document was changed");
    });
  }

  for (const [name, document, patch, code, pointer] of refused) {
    test(`is refused as ${code}: ${name}`, () => {
      const problem = problemOf(document, patch);
      assert.equal(problem.code, code);
      assert.equal(problem.violations[0]?.pointer, pointer);
    });
  }

  test("writes __proto__ as a member and leaves prototypes alone", () => {
    const result = apply({ a: {} }, [
      { op: "add", path: "/__proto__", value: { polluted: true } },
      { op: "add", path: "/a/__proto__", value: { polluted: true } },
    ]);
    assert.equal(
      JSON.stringify(result),
      '{"a":{"__proto__":{"polluted":true}},"__proto__":{"polluted":true}}',
    );
    assert.equal(
      problemOf({}, [{ op: "add", path: "/constructor/prototype/polluted", value: 1 }]).code,
      "PATCH_CONFLICT",
    );
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  test("that doubles the document with each copy is refused before it has grown", () => {
    const bomb = Array.from({ length: 40 }, (_, n) => ({ op: "copy", from: "", path: `/b${n}` }));
    assert.equal(problemOf({ a: "x".repeat(100) }, bomb).code, "CONTENT_TOO_LARGE");
    const inArray = Array.from({ length: 40 }, () => ({ op: "copy", from: "", path: "/-" }));
    assert.match(problemOf(["x"], inArray).code, /CONTENT_TOO_LARGE|BODY_TOO_DEEP/);
  });

  test("may add what it brings along, however many small values that are", () => {
    const ones = Array.from({ length: 300_000 }, () => 1);
    const added = apply({}, [{ op: "add", path: "/a", value: ones }]);
    assert.equal((added as { a: number[] }).a.length, 300_000);
    const copies = ["/b", "/c", "/d"].map((path) => ({ op: "copy", from: "/a", path }));
    const copied = apply({ a: ones.slice(0, 100_000) }, copies);
    assert.equal(JSON.stringify(copied).length, 4 * (2 * 100_000 + 5) + 5);
  });

  test("that copies over the same place again and again is refused", () => {
    const copies = Array.from({ length: 1_000 }, () => ({ op: "copy", from: "/a", path: "/b" }));
    assert.equal(problemOf({ a: "x".repeat(500_000) }, copies).code, "CONTENT_TOO_LARGE");
  });

  test("can be applied twice, since it does not change itself", () => {
    const patch = [
      { op: "add", path: "/a", value: { list: [{ n: 1 }] } },
      { op: "copy", from: "/a/list", path: "/a/copy" },
      { op: "add", path: "/a/list/0/m", value: 2 },
      { op: "move", from: "/a/copy/0", path: "/a/list/-" },
      { op: "remove", path: "/a/list/0/n" },
    ];
    const before = JSON.stringify(patch);
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(apply({}, patch), { a: { list: [{ m: 2 }, { n: 1 }], copy: [] } });
      assert.equal(JSON.stringify(patch), before);
    }
  });

  test("leaves the document alone below what it moves and removes", () => {
    const document = { a: { b: [{ c: 1 }] }, d: {} };
    const before = JSON.stringify(document);
    const result = apply(document, [
      { op: "move", from: "/a", path: "/d/a" },
      { op: "replace", path: "/d/a/b/0/c", value: 2 },
      { op: "add", path: "/d/a/b/-", value: 3 },
    ]);
    assert.deepEqual(result, { d: { a: { b: [{ c: 2 }, 3] } } });
    assert.equal(JSON.stringify(document), before);
  });

  test("can make a document exactly as deep as the limit, and no deeper", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
    const add = (levels: number) => [{ op: "add", path: "/a", value: nested(levels) }];
    assert.deepEqual(apply({}, add(63)), nested(64));
    assert.equal(problemOf({}, add(64)).code, "BODY_TOO_DEEP");
  });

  test("that nests the document too deeply is refused", () => {
    const nest = Array.from({ length: 100 }, () => [
      { op: "add", path: "/outer", value: {} },
      { op: "move", from: "/a", path: "/outer/a" },
      { op: "move", from: "/outer", path: "/a" },
    ]).flat();
    assert.equal(problemOf({ a: 1 }, nest).code, "BODY_TOO_DEEP");
  });

  test("may change a long array a thousand times, in any way", () => {
    const length = 20_000;
    const change = fc.tuple(fc.constantFrom("add", "remove", "replace", "move", "test"), fc.nat(), fc.nat());
    fc.assert(
      fc.property(fc.array(change, { minLength: 1_000, maxLength: 1_000, size: "max" }), (changes) => {
        const expected: unknown[] = Array.from({ length }, (_, n) => n);
        const document = { list: expected.slice() };
        const patch = changes.map(([op, first, second], n) => {
          const from = first % expected.length;
          const moved = expected[from];
          if (op === "test") return { op, path: `/list/${from}`, value: moved };
          if (op === "replace") expected[from] = `r${n}`;
          if (op === "add") expected.splice(from, 0, `a${n}`);
          if (op === "add" || op === "replace") return { op, path: `/list/${from}`, value: expected[from] };
          expected.splice(from, 1);
          if (op === "remove") return { op, path: `/list/${from}` };
          const to = second % (expected.length + 1);
          expected.splice(to, 0, moved);
          return { op, from: `/list/${from}`, path: to === expected.length - 1 ? "/list/-" : `/list/${to}` };
        });
        assert.deepEqual(apply(document, patch), { list: expected });
        assert.equal(document.list.length, length, "the document was changed");
      }),
      { numRuns: 10 },
    );
  });

  test("copies, tests and fills a long array that it has changed", () => {
    const list = Array.from({ length: 12_000 }, (): unknown => ({}));
    const inserts = Array.from({ length: 990 }, (_, n) => ({ op: "add", path: "/list/5000", value: n }));
    const expected = list.toSpliced(5_000, 0, ...Array.from({ length: 990 }, (_, n) => 989 - n));
    const patch = [
      ...inserts,
      { op: "test", path: "/list", value: expected },
      { op: "copy", from: "/list", path: "/copy" },
      { op: "add", path: "/list/0/deep", value: 1 },
      { op: "remove", path: "/copy/12989" },
    ];
    const result = apply({ list }, patch) as { list: unknown[]; copy: unknown[] };
    assert.deepEqual(result.list, expected.with(0, { deep: 1 }));
    assert.deepEqual(result.copy, expected.slice(0, -1));
    assert.deepEqual(list[0], {});
    const beyond = [...inserts, { op: "remove", path: "/list/12990" }];
    assert.equal(problemOf({ list }, beyond).code, "PATCH_CONFLICT");
    const untrue = [...inserts, { op: "test", path: "/list", value: list }];
    assert.equal(problemOf({ list }, untrue).code, "PATCH_CONFLICT");
  });

  test("may empty a long array and fill it again", () => {
    const list = Array.from({ length: 6_000 }, (_, n): unknown => n);
    const limitsOfMany = { ...limits, maxOperations: 10_000 };
    const removals = Array.from({ length: 6_000 }, () => ({ op: "remove", path: "/0" }));
    const refill = [1, 2].map((value) => ({ op: "add", path: "/-", value }));
    assert.deepEqual(applyJsonPatch(list, [...removals, ...refill], limitsOfMany), [1, 2]);
    const beyond = [...removals.slice(0, 900), { op: "remove", path: "/5100" }];
    assert.equal(problemOf(list, beyond).code, "PATCH_CONFLICT");
    const inserts = Array.from({ length: 5_000 }, (_, n) => ({ op: "add", path: "/10", value: `a${n}` }));
    const added = inserts.map(({ value }) => value).reverse();
    assert.deepEqual(applyJsonPatch(list, inserts, limitsOfMany), list.toSpliced(10, 0, ...added));
  });

  test("has at most as many operations as the limit says", () => {
    const many = Array.from({ length: 1_001 }, () => ({ op: "test", path: "", value: {} }));
    assert.equal(problemOf({}, many).code, "INVALID_PATCH");
    assert.deepEqual(apply({}, many.slice(1)), {});
  });
});

interface SuiteCase {
  comment?: string;
  doc: unknown;
  patch?: unknown;
  expected?: unknown;
  error?: string;
  disabled?: boolean;
}

const suite = findSuite("json-patch");

test("json-patch-tests: all of the 108 active cases", { skip: suite.skip }, () => {
  const cases = ["tests.json", "spec_tests.json"]
    .flatMap((file) => JSON.parse(readFileSync(join(suite.folder, file), "utf8")) as SuiteCase[])
    .filter(({ patch, disabled }) => patch !== undefined && disabled !== true);
  assert.equal(cases.length, 108);
  for (const { comment, doc, patch, expected, error } of cases) {
    const name = comment ?? JSON.stringify(patch);
    if (error !== undefined) problemOf(doc, patch);
    else if (expected !== undefined) assert.deepEqual(apply(doc, patch), expected, name);
    else apply(doc, patch);
  }
});
