import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StartError } from "../../src/errors.ts";
import type { Item } from "../../src/import/items.ts";
import { readJson } from "../../src/import/read-json.ts";

const noLimit = Number.MAX_SAFE_INTEGER;

/** All items of an input in chunks of at most `size` bytes. */
async function itemsOf(input: string | Buffer, size = 65_536, maxBytes = noLimit): Promise<Item[]> {
  const bytes = Buffer.from(input);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const items: Item[] = [];
  for await (const part of readJson(chunks(), { maxBytes })) items.push(...part.items);
  return items;
}

const readable = (items: readonly Item[]) =>
  items.map((item) =>
    item.kind === "text"
      ? [item.location.line, item.bytes.toString()]
      : [item.location.line, item.kind, "reason" in item ? item.reason : item.violations],
  );

const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const resource = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
});
const linesIn = (text: string) => text.split("\n").length;

test("readJson returns the elements of any JSON array unchanged with their lines, for any size of chunk", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ value: resource, indent: fc.nat(2), before: blank, after: blank })),
      fc.integer({ min: 1, max: 40 }),
      async (elements, size) => {
        const texts = elements.map(({ value, indent }) => JSON.stringify(value, null, indent));
        const expected: unknown[] = [];
        let input = "[";
        for (const [index, { before, after }] of elements.entries()) {
          input += before;
          expected.push([linesIn(input), texts[index]]);
          input += `${texts[index]}${after}${index < elements.length - 1 ? "," : ""}`;
        }
        assert.deepEqual(readable(await itemsOf(`${input}]`, size)), expected);
      },
    ),
  );
});

test("readJson returns the lines of any NDJSON unchanged with their numbers, for any size of chunk", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(resource), { minLength: 1 }),
      fc.constantFrom("\n", "\r\n"),
      fc.integer({ min: 1, max: 40 }),
      async (values, end, size) => {
        const lines = ["{}", ...values.map((value) => (value === null ? "" : JSON.stringify(value)))];
        const expected = lines.flatMap((line, index) => (line === "" ? [] : [[index + 1, line]]));
        const actual = readable(await itemsOf(lines.join(end), size));
        assert.deepEqual(
          actual.map(([line, text]) => [line, String(text).trimEnd()]),
          expected,
        );
      },
    ),
  );
});

test("readJson copies a long blank start once, and counts its lines", async (t) => {
  let copied = 0;
  const { concat } = Buffer;
  t.mock.method(Buffer, "concat", (parts: readonly Uint8Array[], length?: number) => {
    copied += parts.reduce((sum, part) => sum + part.length, 0);
    return concat(parts, length);
  });
  for (const [content, text] of [
    ['[{"a":1}]', '{"a":1}'],
    ['{"a":1}', '{"a":1}'],
  ] as const) {
    copied = 0;
    const input = "\n \r\n".repeat(25_000) + content;
    assert.deepEqual(readable(await itemsOf(input, 1_000)), [[50_001, text]]);
    assert.ok(copied <= 2 * input.length, `${copied} bytes were copied`);
  }
});

const inputs: readonly { name: string; input: string; items: unknown[] }[] = [
  { name: "an empty input", input: "", items: [] },
  { name: "an input of only blanks", input: " \n\n ", items: [] },
  { name: "an empty array", input: "[]", items: [] },
  { name: "one object without a line break", input: "{}", items: [[1, "{}"]] },
  { name: "blanks before the array", input: '\n\n [{"a":1}]\n', items: [[3, '{"a":1}']] },
  {
    name: "a line that is not JSON",
    input: '{"a":1}\nnope\n{"b":2}',
    items: [
      [1, '{"a":1}'],
      [2, "nope"],
      [3, '{"b":2}'],
    ],
  },
  {
    name: "elements that are not objects",
    input: '[1,\n"x",\nnull,\n[2],\n{"a":1}]',
    items: [
      [1, "invalid", "is not a JSON object"],
      [2, "invalid", "is not a JSON object"],
      [3, "invalid", "is not a JSON object"],
      [4, "[2]"],
      [5, '{"a":1}'],
    ],
  },
  {
    name: "an array without an end",
    input: '[{"a":1},\n{"b":',
    items: [
      [1, '{"a":1}'],
      [2, "broken", "the input ends before the array does"],
    ],
  },
  {
    name: "an array with an element that is not JSON",
    input: '[{"a":1},\n{"b":tru},\n{}]',
    items: [
      [1, '{"a":1}'],
      [2, '{"b":tru}'],
      [3, "{}"],
    ],
  },
  {
    name: "brackets, quotes and backslashes in strings, and literals",
    input: '[{"}":"]\\\\","\\"":["{\\\\\\""]},12.5e3,"a,]\\"b",true,{"é":"\u{1f600}"}]',
    items: [
      [1, '{"}":"]\\\\","\\"":["{\\\\\\""]}'],
      [1, "invalid", "is not a JSON object"],
      [1, "invalid", "is not a JSON object"],
      [1, "invalid", "is not a JSON object"],
      [1, '{"é":"\u{1f600}"}'],
    ],
  },
  {
    name: "two commas",
    input: "[{},,{}]",
    items: [
      [1, "{}"],
      [1, "broken", "an element is missing"],
    ],
  },
  {
    name: "a comma at the end",
    input: "[{},\n]",
    items: [
      [1, "{}"],
      [2, "broken", "an element is missing"],
    ],
  },
  {
    name: "a missing comma",
    input: "[{}\n{}]",
    items: [
      [1, "{}"],
      [2, "broken", "a comma or the end of the array must follow each element"],
    ],
  },
  {
    name: "text after the array",
    input: "[{}]\n{}",
    items: [
      [1, "{}"],
      [2, "broken", "nothing can follow the end of the array"],
    ],
  },
];

for (const { name, input, items } of inputs) {
  test(`readJson returns the expected items for ${name}, also in chunks of one byte`, async () => {
    assert.deepEqual(readable(await itemsOf(input)), items);
    assert.deepEqual(readable(await itemsOf(input, 1)), items);
  });
}

test("the location of an element has its number, because a whole array can be on one line", async () => {
  const items = await itemsOf("[{},5,{},,{}]", 3);
  assert.deepEqual(
    items.map(({ kind, location }) => [kind, location]),
    [
      ["text", { line: 1, element: 1 }],
      ["invalid", { line: 1, element: 2 }],
      ["text", { line: 1, element: 3 }],
      ["broken", { line: 1, element: 4 }],
    ],
  );
});

test("a text over the limit is invalid, and the next text is read", async () => {
  const long = JSON.stringify({ long: "x".repeat(100) });
  for (const size of [7, 1_000]) {
    const inLines = readable(await itemsOf(`${long}\n{"a":1}\n`, size, 50));
    assert.deepEqual(inLines, [
      [1, "invalid", "is larger than the limit of 50 bytes"],
      [2, '{"a":1}'],
    ]);
    const inArray = readable(await itemsOf(`[${long},\n{"a":1}]`, size, 50));
    assert.deepEqual(inArray, inLines);
  }
});

const foreign: readonly { name: string; input: Buffer; says: RegExp }[] = [
  { name: "in UTF-16, big end first", input: Buffer.from("feff007b", "hex"), says: /is UTF-16/ },
  { name: "in UTF-16, little end first", input: Buffer.from('\ufeff{"a":1}', "utf16le"), says: /is UTF-16/ },
  { name: "in UTF-16 without a mark", input: Buffer.from('{"a":1}', "utf16le"), says: /is UTF-16/ },
  { name: "that is compressed", input: Buffer.from("1f8b080000", "hex"), says: /compressed/ },
  {
    name: "of comma-separated values",
    input: Buffer.from("name,lat\nVila,42"),
    says: /neither a JSON array nor/,
  },
];

for (const { name, input, says } of foreign) {
  test(`readJson refuses an input ${name}`, async () => {
    for (const size of [1, 1_000])
      await assert.rejects(
        itemsOf(input, size),
        (error) => error instanceof StartError && says.test(error.message),
      );
  });
}
