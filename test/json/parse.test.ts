import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../src/errors.ts";
import { parseJson, requireObject } from "../../src/json/parse.ts";
import { findSuite } from "../suites.ts";

const wide = { depth: 64, members: 10_000 };

/** What becomes of a text: its value, or the code of the problem. */
function outcomeOf(text: string | Uint8Array): unknown {
  try {
    return { value: parseJson(typeof text === "string" ? Buffer.from(text) : text, wide) };
  } catch (error) {
    assert.ok(error instanceof Problem, `not a problem: ${error}`);
    return error.code;
  }
}

function problemOf(text: string): Problem {
  try {
    parseJson(Buffer.from(text), wide);
  } catch (error) {
    assert.ok(error instanceof Problem);
    return error;
  }
  throw new Error(`${text} was accepted`);
}

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

const refused: [text: string | Uint8Array, code: string][] = [
  ["", "MALFORMED_JSON"],
  ["   ", "MALFORMED_JSON"],
  ["{", "MALFORMED_JSON"],
  ['{"a":1,}', "MALFORMED_JSON"],
  ["{'a':1}", "MALFORMED_JSON"],
  ["{} {}", "MALFORMED_JSON"],
  ["nul", "MALFORMED_JSON"],
  ["01", "MALFORMED_JSON"],
  ["NaN", "MALFORMED_JSON"],
  ['"\u0001"', "MALFORMED_JSON"],
  ['"\\x"', "MALFORMED_JSON"],
  ['{"a":1,"a":2}', "DUPLICATE_MEMBER"],
  ['{"a":1,"\\u0061":2}', "DUPLICATE_MEMBER"],
  ['{"a":{"b":[{"c":1,"c":1}]}}', "DUPLICATE_MEMBER"],
  ['{"__proto__":1,"__proto__":2}', "DUPLICATE_MEMBER"],
  ["1e400", "NUMBER_OUT_OF_RANGE"],
  ["[-1e999]", "NUMBER_OUT_OF_RANGE"],
  ["1e-999", "NUMBER_OUT_OF_RANGE"],
  [`0.${"0".repeat(400)}1`, "NUMBER_OUT_OF_RANGE"],
  [`0.${"0".repeat(250)}1e-90`, "NUMBER_OUT_OF_RANGE"],
  ["9007199254740992", "NUMBER_OUT_OF_RANGE"],
  ['{"n":-9007199254740993}', "NUMBER_OUT_OF_RANGE"],
  ['"\\ud800"', "INVALID_STRING"],
  ['"\\udc00x"', "INVALID_STRING"],
  ['{"\\udc00":1}', "INVALID_STRING"],
  ['"a\\u0000b"', "INVALID_STRING"],
  ['{"\\u0000":1}', "INVALID_STRING"],
  [Uint8Array.of(0x22, 0xff, 0x22), "INVALID_UTF8"],
  [Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), "INVALID_UTF8"],
  [Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), "INVALID_UTF8"],
  ['["\\ud83d\\ude00","\\ude00\\ud83d"]', "INVALID_STRING"],
  ['{"\\ud83d\\ude00":1,"\\ud83d":1}', "INVALID_STRING"],
  ["[1e21,9007199254740993]", "NUMBER_OUT_OF_RANGE"],
  ["[1e22,1000000000000000000000]", "NUMBER_OUT_OF_RANGE"],
  ["1e20", "NUMBER_OUT_OF_RANGE"],
  ["-1.5e16", "NUMBER_OUT_OF_RANGE"],
  ["123456789012345678.0", "NUMBER_OUT_OF_RANGE"],
  ["[0,\t-100000000000000000000]", "NUMBER_OUT_OF_RANGE"],
  ["-1E+400", "NUMBER_OUT_OF_RANGE"],
  [`-0.${"0".repeat(224)}1e-99`, "NUMBER_OUT_OF_RANGE"],
  [`${"[".repeat(60)}]${"[".repeat(500_000)}`, "MALFORMED_JSON"],
  ["]:".repeat(1_000), "MALFORMED_JSON"],
  [":".repeat(20_000), "MALFORMED_JSON"],
  [nested(65), "BODY_TOO_DEEP"],
  [nested(1_001), "BODY_TOO_DEEP"],
  [nested(500_000), "BODY_TOO_DEEP"],
  [`{"a":${"[".repeat(100_000)}`, "BODY_TOO_DEEP"],
  [`{${Array.from({ length: 10_001 }, (_, n) => `"m${n}":0`).join()}}`, "BODY_TOO_DEEP"],
];

const accepted: [text: string, value: unknown][] = [
  ["{}", {}],
  [" [1, 2.50, -0.125, 1E3] ", [1, 2.5, -0.125, 1000]],
  ['"\\ud83d\\ude00 \\u00e9 \\\\u0000 \\/"', "😀 é \\u0000 /"],
  ["9007199254740991", 9007199254740991],
  ["-9007199254740991", -9007199254740991],
  ["1e21", 1e21],
  ["0.1000000000000000055", 0.1],
  ["0e-999", 0],
  ["5e-324", 5e-324],
  ["[1e22,-1.5e300,0.0,0e-5]", [1e22, -1.5e300, 0, 0]],
  ['["9007199254740993",1e21]', ["9007199254740993", 1e21]],
  [`0.${"1".repeat(500)}`, Number(`0.${"1".repeat(500)}`)],
  ['{"\\ud83d\\ude00":"\\\\ud800"}', { "😀": "\\ud800" }],
  ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}', { a: { a: { a: 1 } }, b: [{ a: 1 }, { a: 1 }] }],
  ['{"a:b":":{[","c":"\\"}"}', { "a:b": ":{[", c: '"}' }],
  ['{"constructor":1,"toString":2}', { constructor: 1, toString: 2 }],
];

describe("the JSON parser", () => {
  for (const [text, code] of refused) {
    const shown = typeof text === "string" ? text.slice(0, 40) : `bytes ${Buffer.from(text).toString("hex")}`;
    test(`refuses ${JSON.stringify(shown)} as ${code}`, () => assert.equal(outcomeOf(text), code));
  }

  for (const [text, value] of accepted) {
    test(`takes ${text.slice(0, 50)}`, () => assert.deepEqual(outcomeOf(text), { value }));
  }

  test("takes 64 levels and 10,000 members", () => {
    assert.deepEqual(outcomeOf(nested(64)), { value: JSON.parse(nested(64)) });
    const wide = `{${Array.from({ length: 10_000 }, (_, n) => `"m${n}":0`).join()}}`;
    assert.deepEqual(outcomeOf(wide), { value: JSON.parse(wide) });
  });

  test("takes -0 for 0", () => {
    assert.equal(JSON.stringify(parseJson(Buffer.from("[-0,-0.0,-0e5]"), wide)), "[0,0,0]");
  });

  test("counts the members of each object apart", () => {
    const limits = { depth: 3, members: 2 };
    const text = '{"a":{"b":1,"c":{"d":1,"e":1}},"f":[{"g":1,"h":1},{"i":1,"j":1}]}';
    assert.deepEqual(parseJson(Buffer.from(text), limits), JSON.parse(text));
    assert.throws(() => parseJson(Buffer.from('{"a":{"b":1,"c":2},"d":3,"e":4}'), limits), {
      code: "BODY_TOO_DEEP",
    });
  });

  test("keeps __proto__ as a member like any other", () => {
    const value = parseJson(Buffer.from('{"__proto__":{"polluted":true}}'), wide) as object;
    assert.deepEqual(Object.keys(value), ["__proto__"]);
    assert.equal(JSON.stringify(value), '{"__proto__":{"polluted":true}}');
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  test("says what is wrong and where", () => {
    assert.equal(
      problemOf('{\n  "a": 1,\n  "b" 2\n}').message,
      'The body is not valid JSON: expected a ":" after the member name at line 3, column 7, but found "2".',
    );
    const duplicate = problemOf('{"author":{"first name":1,"first name":2}}');
    assert.equal(duplicate.violations[0]?.pointer, "#/author/first%20name");
    assert.match(duplicate.message, /appears twice .* \(line 1, column 39\)/);
    assert.equal(problemOf('{"list":[1,1e400]}').violations[0]?.pointer, "#/list/1");
    assert.equal(problemOf('{"a/b~c":"\\ud800"}').violations[0]?.pointer, "#/a~1b~0c");
  });

  test("gives back every JSON value as it was", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/\\u0000|\\ud[89a-f]/.test(text) && !hasUnsafeInteger(value));
        const parsed = parseJson(Buffer.from(text), wide);
        assert.equal(JSON.stringify(parsed), text);
        assert.deepEqual(parsed, JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("what was accepted is accepted again as it is written, numbers of any size included", () => {
    const near = fc.constantFrom(1e15, 2 ** 53 - 1, 2 ** 53, 1e16, 1e20, 1e21, 1e22, 1e300, 5e-324, 0);
    const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), near);
    const spelling = fc.constantFrom<(value: number) => string>(
      (value) => JSON.stringify(value),
      (value) => value.toExponential(),
      (value) => `${JSON.stringify(value)}${/[.e]/.test(String(value)) ? "" : ".0"}`,
    );
    fc.assert(
      fc.property(number, spelling, (value, spell) => {
        const outcome = outcomeOf(spell(value));
        if (typeof outcome === "string") return assert.equal(outcome, "NUMBER_OUT_OF_RANGE");
        const written = JSON.stringify((outcome as { value: number }).value);
        assert.deepEqual(outcomeOf(written), { value: JSON.parse(written) });
      }),
      { numRuns: 3000 },
    );
  });

  test("gives a value or a problem for any bytes, and never another error", () => {
    const pieces = fc.constantFrom(
      ...'{}[]:,"\\0123456789.eE+-aun \n\t',
      "\\u",
      "d800",
      "true",
      "null",
      "é",
      "\ufeff",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.array(pieces).map((all) => Buffer.from(all.join(""))),
        ),
        (bytes) => {
          const outcome = outcomeOf(bytes);
          if (typeof outcome !== "string") JSON.parse(Buffer.from(bytes).toString());
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("a value that is no object is told what it is", () => {
    for (const [value, what] of [
      [[], "an array"],
      [null, "null"],
      ["x", "a string"],
      [1, "a number"],
    ] as const) {
      assert.throws(() => requireObject(value), {
        code: "BODY_NOT_OBJECT",
        message: new RegExp(`^The body must be a JSON object, not ${what}[:.]`),
      });
    }
    assert.deepEqual(requireObject({ a: 1 }), { a: 1 });
  });
});

function hasUnsafeInteger(value: unknown): boolean {
  if (typeof value === "number")
    return Math.abs(value) > Number.MAX_SAFE_INTEGER && /^-?\d+$/.test(String(value));
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeInteger);
}

/** The cases that a JSON parser must accept, but that I-JSON refuses. */
const strictly: Record<string, string> = {
  "y_object_duplicated_key.json": "DUPLICATE_MEMBER",
  "y_object_duplicated_key_and_value.json": "DUPLICATE_MEMBER",
  "y_object_escaped_null_in_key.json": "INVALID_STRING",
  "y_string_null_escape.json": "INVALID_STRING",
};

/** The cases that a parser may decide. */
const decided: Record<string, string> = {
  "i_number_double_huge_neg_exp.json": "NUMBER_OUT_OF_RANGE",
  "i_number_huge_exp.json": "NUMBER_OUT_OF_RANGE",
  "i_number_neg_int_huge_exp.json": "NUMBER_OUT_OF_RANGE",
  "i_number_pos_double_huge_exp.json": "NUMBER_OUT_OF_RANGE",
  "i_number_real_neg_overflow.json": "NUMBER_OUT_OF_RANGE",
  "i_number_real_pos_overflow.json": "NUMBER_OUT_OF_RANGE",
  "i_number_real_underflow.json": "NUMBER_OUT_OF_RANGE",
  "i_number_too_big_neg_int.json": "NUMBER_OUT_OF_RANGE",
  "i_number_too_big_pos_int.json": "NUMBER_OUT_OF_RANGE",
  "i_number_very_big_negative_int.json": "NUMBER_OUT_OF_RANGE",
  "i_object_key_lone_2nd_surrogate.json": "INVALID_STRING",
  "i_string_1st_surrogate_but_2nd_missing.json": "INVALID_STRING",
  "i_string_1st_valid_surrogate_2nd_invalid.json": "INVALID_STRING",
  "i_string_UTF-16LE_with_BOM.json": "INVALID_UTF8",
  "i_string_UTF-8_invalid_sequence.json": "INVALID_UTF8",
  "i_string_UTF8_surrogate_U+D800.json": "INVALID_UTF8",
  "i_string_incomplete_surrogate_and_escape_valid.json": "INVALID_STRING",
  "i_string_incomplete_surrogate_pair.json": "INVALID_STRING",
  "i_string_incomplete_surrogates_escape_valid.json": "INVALID_STRING",
  "i_string_invalid_lonely_surrogate.json": "INVALID_STRING",
  "i_string_invalid_surrogate.json": "INVALID_STRING",
  "i_string_invalid_utf-8.json": "INVALID_UTF8",
  "i_string_inverted_surrogates_U+1D11E.json": "INVALID_STRING",
  "i_string_iso_latin_1.json": "INVALID_UTF8",
  "i_string_lone_second_surrogate.json": "INVALID_STRING",
  "i_string_lone_utf8_continuation_byte.json": "INVALID_UTF8",
  "i_string_not_in_unicode_range.json": "INVALID_UTF8",
  "i_string_overlong_sequence_2_bytes.json": "INVALID_UTF8",
  "i_string_overlong_sequence_6_bytes.json": "INVALID_UTF8",
  "i_string_overlong_sequence_6_bytes_null.json": "INVALID_UTF8",
  "i_string_truncated-utf-8.json": "INVALID_UTF8",
  "i_string_utf16BE_no_BOM.json": "INVALID_UTF8",
  "i_string_utf16LE_no_BOM.json": "INVALID_UTF8",
  "i_structure_500_nested_arrays.json": "BODY_TOO_DEEP",
  "i_structure_UTF-8_BOM_empty_object.json": "INVALID_UTF8",
};

const suite = findSuite("json-parsing/test_parsing");

test("JSONTestSuite: each of its 318 cases is as decided", { skip: suite.skip }, () => {
  const files = readdirSync(suite.folder).filter((file) => file.endsWith(".json"));
  assert.equal(files.length, 318);
  for (const file of files) {
    const outcome = outcomeOf(readFileSync(join(suite.folder, file)));
    const code = typeof outcome === "string" ? outcome : "accepted";
    if (file.startsWith("y_")) assert.equal(code, strictly[file] ?? "accepted", file);
    else if (file.startsWith("i_")) assert.equal(code, decided[file], file);
    else assert.notEqual(code, "accepted", file);
  }
});
