/** Quotes as programs write them become those of RFC 4180, and a file that follows it stays unchanged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openCollection } from "../../src/collection/collection.ts";
import { CsvQuotes } from "../../src/import/csv-quotes.ts";
import { readCsv } from "../../src/import/read-csv.ts";

/** The text as it is rewritten, in parts of `size` bytes. */
function rewritten(text: string, delimiter = ",", size = 1_000): string {
  const quotes = new CsvQuotes(delimiter);
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(quotes.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, quotes.end()]).toString();
}

const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", ";", "\\", " ", "\t", "\n", "é", "→") });

test("what follows RFC 4180 stays unchanged, whatever the delimiter and the size of the parts", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.record({ text: cell, isQuoted: fc.boolean() }), { minLength: 1 }), {
        minLength: 1,
      }),
      fc.constantFrom(",", ";", "\t", "→"),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.integer({ min: 1, max: 9 }),
      (rows, delimiter, end, size) => {
        const written = ({ text, isQuoted }: { text: string; isQuoted: boolean }) =>
          isQuoted || /["\r\n]/.test(text) || text.includes(delimiter) || /^[ \t]/.test(text)
            ? `"${text.replaceAll('"', '""')}"`
            : text;
        const lines = rows.map((row) => row.map(written).join(delimiter) + end).join("");
        assert.equal(rewritten(lines, delimiter, size), lines);
      },
    ),
  );
});

for (const [name, text, expected] of [
  ["a quote inside a cell without quotes", '5" pipe,6" pipe\n', '5" pipe,6" pipe\n'],
  ["blanks before and behind a cell in quotes", 'a, "b, c" ,d\n "e"\t\n', 'a,"b, c",d\n"e"\n'],
  ["blanks of a cell without quotes", " a , b\n", " a , b\n"],
  ["a quote behind a backslash", '"say \\"hi\\" now",b\n', '"say ""hi"" now",b\n'],
  ["a backslash at the end of a cell", '"C:\\dir\\","b\\"\n"c\\"', '"C:\\dir\\","b\\"\n"c\\"'],
  ["two backslashes before a quote", '"a\\\\",b\n', '"a\\\\",b\n'],
  ["a line break in a cell with quotes behind backslashes", '"a\\"\\n\\"b"\n', '"a""\\n""b"\n'],
  ["an escaped quote and an escaped backslash at an end", '"a \\"b\\"","c\\\\",d\n', '"a ""b""","c\\",d\n'],
] as const)
  test(name, () => {
    for (let size = 1; size <= text.length; size++) assert.equal(rewritten(text, ",", size), expected);
  });

test("text behind a cell in quotes is refused at the line of its row, and the rows before it are read", async () => {
  for (const text of ['a,"b"c', '"b" c', '"a""b" "c"', '"a\\\\","\\"b"'])
    for (const end of ["\n", "\r\n", "\r"]) {
      async function* input() {
        yield Buffer.from(["a,b", '"1\n","2"', `${text},x`, "4,5", ""].join(end));
      }
      const options = { collection: openCollection("things"), maxBytes: 1_000, advice: () => "" };
      const items = [];
      for await (const part of readCsv(input(), options)) items.push(...part.items);
      assert.deepEqual(
        items.map(({ kind, location: { line } }) => [kind, line]),
        [
          ["text", 2],
          ["broken", 4],
        ],
        text,
      );
    }
});

test("an input is closed when its header ends the reading", async () => {
  let isClosed = false;
  async function* input() {
    try {
      for (;;) yield Buffer.from("a,a\n1,2\n");
    } finally {
      isClosed = true;
    }
  }
  const options = { collection: openCollection("things"), maxBytes: 1_000, advice: () => "" };
  await assert.rejects(async () => {
    for await (const _ of readCsv(input(), options));
  }, /names "a" twice/);
  assert.ok(isClosed);
});
