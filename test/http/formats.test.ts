import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { withoutGuard } from "../../src/collection/formula-guard.ts";
import { tablePieces } from "../../src/http/lists/csv.ts";
import { contentOf } from "../../src/http/lists/page-content.ts";
import { contentTypeOf, listTypes } from "../../src/http/protocol/accept.ts";
import { anyCharacter } from "../characters.ts";
import { tableText } from "./tables.ts";

const csv = (resources: readonly unknown[], fields?: readonly string[]) =>
  tableText(
    resources.map((resource) => JSON.stringify(resource)),
    fields,
  );

test("NDJSON is every text in a line of its own", () => {
  const request = { method: "GET", socket: new Socket() };
  const lines = (...texts: string[]) =>
    contentOf(texts, { type: "application/x-ndjson", fields: undefined }, request);
  assert.equal(lines('{"id":"a","t":"x\\ny"}', '{"id":"b"}'), '{"id":"a","t":"x\\ny"}\n{"id":"b"}\n');
  assert.equal(lines(), "");
});

test("CSV begins with the id, then every attribute in the order of appearance; what is absent is an empty cell", () => {
  assert.equal(
    csv([
      { id: "a", title: "A" },
      { id: "b", stars: 5, title: "B" },
    ]),
    "id,title,stars\r\na,A,\r\nb,B,5\r\n",
  );
  assert.equal(csv([]), "id\r\n");
});

test("CSV has the fields that were asked for, the id among them once, and no others", () => {
  const resources = [{ id: "a", title: "A", stars: 5 }];
  assert.equal(csv(resources, ["stars", "missing"]), "id,stars,missing\r\na,5,\r\n");
  assert.equal(csv(resources, ["title", "id"]), "id,title\r\na,A\r\n");
  assert.equal(csv(resources, ["toString"]), "id,toString\r\na,\r\n");
});

const cells: readonly [value: unknown, cell: string][] = [
  [-5, "-5"],
  [1e21, "1e+21"],
  [true, "true"],
  [null, "null"],
  ["", '""'],
  ["null", '"null"'],
  ["true", '"true"'],
  ["5", '"5"'],
  [{ a: [1, "x"] }, '"{""a"":[1,""x""]}"'],
  [[], "[]"],
  ["a,b", '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["two\rlines", '"two\rlines"'],
  ["  blanks ", "  blanks "],
  ["=1+1", "'=1+1"],
  ["+49 30", "'+49 30"],
  ["-5", "'-5"],
  ["@name", "'@name"],
  ["\tx", "'\tx"],
  ["\rx", `"'\rx"`],
  ["＝1", "'＝1"],
  ["'=1", "''=1"],
  ["'tis", "'tis"],
  ["a=b", "a=b"],
];

for (const [value, cell] of cells) {
  test(`in CSV ${JSON.stringify(value)} is ${JSON.stringify(cell)}`, () => {
    assert.equal(csv([{ id: "a", value }]), `id,value\r\na,${cell}\r\n`);
  });
}

test("names of attributes are guarded and quoted as texts are, and __proto__ is one of them", () => {
  assert.equal(
    tableText(['{"id":"a","@type":1,"a,b":2,"__proto__":3,"a.b":4}']),
    'id,\'@type,"a,b",__proto__,a.b\r\na,1,2,3,4\r\n',
  );
});

test("every text comes back from CSV, and none begins as a formula does", () => {
  const begin = fc.constantFrom("", "'", "''", "=", "'=", "''@", "-", "\t", "\r", "\n", '"', ",", "\uFEFF");
  const text = fc.tuple(begin, fc.string({ unit: anyCharacter })).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), (values) => {
      const [, ...rows] = parse(csv(values.map(([a, b]) => ({ id: "x", a, b }))));
      assert.deepEqual(
        rows.map(([, a = "", b = ""]) => [withoutGuard(a), withoutGuard(b)]),
        values,
      );
      for (const cell of rows.flat()) assert.doesNotMatch(cell, /^[=+\-@\t\r]/);
    }),
  );
});

test("each format is sent with its own media type and its charset", () => {
  for (const type of listTypes) assert.match(contentTypeOf(type), new RegExp(`^${type}; charset=utf-8`));
});

test("a table is made in pieces of few cells and little text, whatever its width", () => {
  const wide = Array.from({ length: 2_000 }, (_, n) => `a${n}`);
  const texts = Array.from({ length: 100 }, (_, n) => JSON.stringify({ id: `${n}`, a0: 1 }));
  for (const piece of tablePieces(["id", ...wide], texts))
    assert.ok(piece.split(",").length <= 5_000, `${piece.length} characters`);
  const long = texts.map((_, n) => JSON.stringify({ id: `${n}`, text: "x".repeat(20_000) }));
  for (const piece of tablePieces(["id", "text"], long)) assert.ok(piece.length < 100_000);
});
