/** Texts that users write as JSON or as a number: nothing is rounded or dropped in silence. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numberProblem, readJson, readJsonObject } from "../../console/src/resource/json-text.ts";

test("valid JSON is read as JSON.parse reads it", () => {
  for (const text of [
    "{}",
    "[]",
    ' { "a" : [ 1 , -0.5e+3 , true, false, null, "\\u00e9\\"" ] , "__proto__": {} } ',
    '"x"',
    "1.0",
    "1e21",
    "0",
    '{"a":{"b":[[{}]]}}',
  ])
    assert.deepEqual(readJson(text), { value: JSON.parse(text) as unknown }, text);
});

test("every text that JSON.parse refuses has a message with its place", () => {
  for (const text of [
    "",
    " ",
    "{",
    "[1,]",
    '{"a":1,}',
    "{a:1}",
    '{"a" 1}',
    '{"a":1 "b":2}',
    "[1 2]",
    "tru",
    "'x'",
    '"x',
    '"a\nb"',
    '"\\x"',
    "01",
    "+1",
    ".5",
    "1.",
    "1e",
    "NaN",
    "{} {}",
    "}",
    "[1}",
    "\u00a01",
  ]) {
    assert.throws(() => JSON.parse(text), text);
    const { problem } = readJson(text);
    assert.ok(problem !== undefined && problem.message !== "", text);
    assert.ok(problem.at >= 0 && problem.at <= text.length, text);
  }
});

test("an error has its line", () => {
  assert.equal(readJson('{\n  "a": 1,\n  "b": tru\n}').problem?.line, 3);
  assert.deepEqual(readJson('{\n  "a": 1,\n  "a": 2\n}').problem, {
    message: 'The name "a" occurs twice.',
    at: 14,
    line: 3,
  });
});

test("the same name in different objects is no repetition", () => {
  assert.equal(readJson('{"a":{"a":1},"b":[{"a":1},{"a":2}]}').problem, undefined);
});

test("numbers that would become others are refused", () => {
  for (const text of [
    "0",
    "-0",
    "1.0",
    "10.50",
    "1e3",
    "1E+3",
    "0.1",
    "9007199254740991",
    "1e21",
    "123456789012345e-20",
  ])
    assert.equal(numberProblem(text), undefined, text);
  for (const text of [
    "9007199254740993",
    "-9007199254740992",
    "1e400",
    "1e-400",
    "0.12345678901234567891",
    "1e17",
  ])
    assert.notEqual(numberProblem(text), undefined, text);
  assert.match(numberProblem("9007199254740993") ?? "", /service refuses/);
  assert.equal(readJson('{"n": 9007199254740993}').problem?.at, 6);
});

test("deep texts are refused before they overflow the stack", () => {
  assert.match(readJson("[".repeat(100_000)).problem?.message ?? "", /64 levels/);
  assert.equal(readJson(`${"[".repeat(64)}${"]".repeat(64)}`).problem, undefined);
});

test("a resource is an object", () => {
  for (const text of ["[]", "null", "1", '"x"']) assert.equal(readJsonObject(text).problem?.line, 1, text);
  assert.deepEqual(readJsonObject("{}"), { value: {} });
});
