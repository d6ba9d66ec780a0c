import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleOf, requestText, shellWord } from "../../console/src/list/api-texts.ts";
import { readValue, updateOf } from "../../console/src/list/bulk.ts";
import { formatOf } from "../../console/src/list/import-file.ts";
import { fromLocalTime, toLocalTime } from "../../console/src/parts/formats.ts";

test("a file is known by its name, then by its text", () => {
  const cases: [name: string, text: string, expected: object][] = [
    ["a.csv", "a,b\n", { type: "text/csv" }],
    ["a.csv", '"x,y,z";b;c\n1;2;3', { type: "text/csv", delimiter: ";" }],
    ["a.tsv", "a\tb", { type: "text/csv", delimiter: "tab" }],
    ["a.json", "\uFEFF [1]", { type: "application/json" }],
    ["a.json", '{"a":1}\n{"a":2}', { type: "application/x-ndjson" }],
    ["a.JSONL", "", { type: "application/x-ndjson" }],
    ["notes", "a,b\n1,2", { type: "text/csv" }],
  ];
  for (const [name, text, expected] of cases) assert.deepEqual(formatOf(name, text), expected, name);
});

test("the value of a change has the type of its attribute", () => {
  assert.equal(readValue("1949", "text"), "1949");
  assert.equal(readValue("1949", "integer"), 1949);
  assert.equal(readValue("x", "any"), "x");
  assert.throws(() => readValue("19x", "number"), SyntaxError);
  assert.deepEqual(updateOf("a", "null", "", "text"), { a: { $set: null } });
  assert.deepEqual(updateOf("a", "unset", "", "text"), { a: { $unset: true } });
});

test("times of fields keep their moment", () => {
  const time = "2026-11-22T21:27:06.000Z";
  assert.equal(fromLocalTime(toLocalTime(time)), time);
  assert.equal(toLocalTime("soon"), "");
});

test("requests quote what a shell would read", () => {
  assert.equal(shellWord("it's $HOME"), `'it'\\''s $HOME'`);
  const base = {
    baseUrl: "http://h/api/v1",
    collection: "it's",
    query: "a=1",
    id: "x/y",
    hasCredential: true,
  };
  assert.match(
    requestText("curl", { ...base, what: "list", example: {} }),
    /^curl -g 'http:\/\/h\/api\/v1\/it'\\''s\?a=1' \\\n {2}-H "Authorization: Bearer \$HOLDFAST_KEY"$/,
  );
  assert.match(
    requestText("fetch", { ...base, what: "change", example: { a: 1 } }),
    /x%2Fy.*PATCH.*If-Match/s,
  );
  assert.match(
    requestText("holdfast-client", { ...base, what: "create", example: {} }),
    /client\["it's"\]\.create\(\{\}\)/,
  );
});

test("an example has the required attributes", () => {
  const schema = {
    properties: { a: { type: "string" }, b: { enum: ["x"] }, c: { type: "integer" } },
    required: ["a", "b"],
  };
  assert.deepEqual(exampleOf(schema), { a: "Hello", b: "x" });
  assert.deepEqual(exampleOf(null), { title: "Hello" });
});
