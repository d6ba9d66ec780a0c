/** What an input is: a list, lines, one object with a list in it, or CSV with another delimiter. Nothing is silently something else. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCollection } from "../../src/collection/collection.ts";
import { StartError } from "../../src/errors.ts";
import { type InputFormat, readInput } from "../../src/import/input.ts";
import type { Item } from "../../src/import/items.ts";

interface Given extends InputFormat {
  /** The bytes of each chunk. @default all of them */
  size?: number | undefined;
  maxBytes?: number;
  schema?: object;
}

async function itemsOf(
  text: string | Buffer,
  { size, maxBytes = 10_000, schema, ...format }: Given = {},
): Promise<Item[]> {
  const bytes = Buffer.from(text as string);
  async function* chunks() {
    const step = size ?? Math.max(1, bytes.length);
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  }
  const declared = schema === undefined ? undefined : JSON.stringify(schema);
  const collection = { ...openCollection("things"), schema: declared };
  const advice = (option: string, value: string) => `set ${option} to ${value}`;
  const items: Item[] = [];
  for await (const part of readInput(chunks(), format, { collection, maxBytes, advice }))
    for (const item of part.items) items.push(item);
  return items;
}

/** The resources, and for everything else the line and the reason. */
async function read(text: string | Buffer, given: Given = {}): Promise<unknown[]> {
  return (await itemsOf(text, given)).map((item) =>
    item.kind === "text"
      ? (JSON.parse(item.bytes.toString()) as unknown)
      : `${item.location.line}: ${item.kind}: ${"reason" in item ? item.reason : item.violations.map(({ pointer, detail }) => `${pointer} ${detail}`)}`,
  );
}

const refuses = (text: string | Buffer, given: Given, says: RegExp) =>
  assert.rejects(read(text, given), (error: unknown) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, says);
    return true;
  });

const features = {
  type: "FeatureCollection",
  name: 'a "}]\\',
  features: [{ id: 1, in: [{}] }, { id: 2 }],
  more: [{}],
};
const deep = {
  features: { no: 1 },
  data: { other: { items: [{}] }, items: [{ id: "é" }], rest: null },
  items: [],
};

describe("the encoding", () => {
  test("may begin with a byte order mark, however its bytes arrive", async () => {
    for (const size of [1, 2, 3, 4, 5, undefined]) {
      assert.deepEqual(await read('\ufeff{"a":1}\n{"a":2}', { size }), [{ a: 1 }, { a: 2 }]);
      assert.deepEqual(await read('\ufeff \n[{"a":1}]', { size }), [{ a: 1 }]);
      assert.deepEqual(await read('\ufeff{"in":[{"a":1}]}', { size, at: "in" }), [{ a: 1 }]);
      assert.deepEqual(await read('\ufeff{"a":1}', { size, at: "." }), [{ a: 1 }]);
      assert.deepEqual(await read("\ufeffa,b\n1,2\n", { size, form: "csv" }), [{ a: "1", b: "2" }]);
    }
    await refuses("\ufeff \n", { form: "array" }, /only white space/);
  });

  test("is refused if it is UTF-16 or compressed", async () => {
    for (const format of [{}, { at: "a" }, { form: "csv" }] as const) {
      await refuses(
        Buffer.from('\ufeff{"a":1}', "utf16le"),
        format,
        /^The input is UTF-16\. Convert it to UTF-8\.$/,
      );
      await refuses(Buffer.from("1f8b080000", "hex"), format, /compressed with gzip/);
    }
  });
});

describe("a list in an object", () => {
  for (const [name, value, at, expected] of [
    ["of the object", features, "features", features.features],
    ["after others", features, "more", [{}]],
    ["deeper inside", deep, "data.items", deep.data.items],
    ["deepest inside", deep, "data.other.items", [{}]],
    ["that is empty", deep, "items", []],
    ["whose name is written with an escape", '{"n\\u0061me":[{"a":1}]}', "name", [{ a: 1 }]],
  ] as const)
    test(name, async () => {
      const texts =
        typeof value === "string" ? [value] : [JSON.stringify(value), JSON.stringify(value, null, 2)];
      for (const text of texts)
        for (let size = 1; size <= text.length; size = size < 9 ? size + 1 : size * 2)
          assert.deepEqual(await read(text, { at, size }), expected);
    });

  test("has the lines and elements of the input", async () => {
    const items = await itemsOf(JSON.stringify(features, null, 2), { at: "features", size: 7 });
    assert.deepEqual(
      items.map(({ location }) => location),
      [
        { line: 5, element: 1 },
        { line: 11, element: 2 },
      ],
    );
  });

  test("is not refused because of many items that are none", async () => {
    const items = await itemsOf(`[${"1,".repeat(200_000)}1]`);
    assert.equal(items.length, 200_001);
  });

  test("is refused where it is not, with the names that are there", async () => {
    await refuses(
      JSON.stringify(features),
      { at: "feature" },
      /no member "feature"\. Did you mean "features"\?/,
    );
    await refuses(JSON.stringify(deep), { at: "data.list" }, /no member "data\.list"/);
    await refuses(
      JSON.stringify(deep),
      { at: "data" },
      /^The member "data" of the input is an object, not a list: write its members as a list, each with its name as "id"\.$/,
    );
    await refuses(
      JSON.stringify(features),
      { at: "features.x" },
      /The member "features" of the input is not an object/,
    );
    await refuses('{"a":"[", "b":1}', { at: "a" }, /The member "a" of the input is not a list/);
    await refuses('[{"a":1}]', { at: "a" }, /not one JSON object/);
    await refuses("{", { at: "a" }, /no member "a"/);
    await refuses("", { at: "a" }, /no member "a"/);
  });

  test("is not all if the input goes on wrongly", async () => {
    const rest = (text: string) => read(`{"a":{"b":[{"n":1}]${text}`, { at: "a.b", size: 3 });
    assert.deepEqual(await rest("}}"), [{ n: 1 }]);
    assert.deepEqual(await rest(',"c":{"b":[2]}},"b":[3],"d":{"a":1}}\n'), [{ n: 1 }]);
    for (const [text, reason] of [
      ["}", "the input ends before the object does"],
      [',"b":[]}}', 'the member "a.b" occurs twice'],
      ['},"a":{}}', 'the member "a" occurs twice'],
      ["}}{}", "nothing can follow the end of the object"],
    ] as const)
      assert.deepEqual(await rest(text), [{ n: 1 }, `1: broken: ${reason}`]);
    assert.deepEqual(await read('{"a":[{"n":1},', { at: "a" }), [
      { n: 1 },
      "1: broken: the input ends before the array does",
    ]);
  });
});

describe("one object", () => {
  test("that contains a list of objects is refused, with the place of the list", async () => {
    for (const text of [
      JSON.stringify(features),
      JSON.stringify(features, null, 2),
      `\n${JSON.stringify(features)}\n\n`,
    ])
      for (const size of [undefined, 5])
        await refuses(
          text,
          { size },
          /in "features", "more"\. To import that list, set at to features\. To import .* set at to \.\.$/,
        );
    await refuses("{\n  rows: [{}],\n}", {}, /one JSON object, not one on each line/);
    await refuses('{"data":{"items":[{}]},"meta":{}}', {}, /in "data\.items"/);
    await refuses(
      JSON.stringify({ a: 1, b: [1] }, null, 1),
      {},
      /one JSON object, not one on each line\. To import the object .* name the list in place of the dot\.$/,
    );
  });

  test("of many lines is judged once, and few of them are held", async () => {
    let parts = 0;
    async function* chunks() {
      yield Buffer.from("{\n");
      for (; parts < 100_000; parts++) yield Buffer.from("}\n");
    }
    const rules = { collection: openCollection("things"), maxBytes: 1e6, advice: () => "" };
    await assert.rejects(async () => {
      for await (const _ of readInput(chunks(), {}, rules));
    }, /one JSON object, not one on each line/);
    assert.ok(parts <= 1_000, String(parts));
  });

  test("is found out from its beginning if it is longer than a resource", async () => {
    const long = JSON.stringify({ rows: Array.from({ length: 2_000 }, (_, n) => ({ n })) }, null, 2);
    await refuses(long, { maxBytes: 1_000, size: 100 }, /in "rows"/);
    const inOneLine = JSON.stringify(JSON.parse(long));
    await refuses(inOneLine, { maxBytes: 1_000, size: 100 }, /in "rows"/);
    const tooLarge = ["1: invalid: is larger than the limit of 1000 bytes"];
    const declared = { maxBytes: 1_000, schema: { properties: { rows: { type: "array" } } } };
    assert.deepEqual(await read(inOneLine, declared), tooLarge);
    assert.deepEqual(await read(inOneLine.replace("{", '{"id":"a",'), { maxBytes: 1_000 }), tooLarge);
  });

  test("is a resource if it has an id, if the schema declares the list, if it has none, and if others follow", async () => {
    const exported = { id: "one", lines: [{ sku: "a" }] };
    assert.deepEqual(await read(`${JSON.stringify(exported)}\n`), [exported]);
    await refuses('{"a.b":[{}],"":[{}]}', {}, /^The input is one JSON object, not one on each line\./);
    const order = { items: [{ sku: "a" }] };
    const schema = { properties: { items: { type: "array" } } };
    assert.deepEqual(await read(JSON.stringify(order), { schema }), [order]);
    assert.deepEqual(await read('{"a":{"b":[1,[]]}}'), [{ a: { b: [1, []] } }]);
    assert.deepEqual(await read(`${JSON.stringify(order)}\n{"n":1}\n`), [order, { n: 1 }]);
    assert.deepEqual(await read(JSON.stringify([order])), [order]);
  });

  test("is a resource when that is asked for, also over several lines", async () => {
    assert.deepEqual(await read(JSON.stringify(features, null, 2), { at: ".", size: 9 }), [features]);
    assert.deepEqual(await read(JSON.stringify(features), { at: ".", maxBytes: 20 }), [
      "1: invalid: is larger than the limit of 20 bytes",
    ]);
  });

  test("is not meant by a wrong first line among other lines", async () => {
    const items = await itemsOf('{"id":1\n{"id":2}\n');
    assert.deepEqual(
      items.map((item) => [item.kind, item.location.line]),
      [
        ["text", 1],
        ["text", 2],
      ],
    );
  });

  test("in place of an array is refused with the place of its list, also if it would be a resource", async () => {
    const form = "array";
    for (const text of [JSON.stringify(features), JSON.stringify(features, null, 2)])
      for (const size of [undefined, 5]) await refuses(text, { form, size }, /list, set at to features\./);
    await refuses(
      '{"id":"one"}\n',
      { form },
      /^The input is one JSON object, not a JSON array\. .* set at to \.\./,
    );
    await refuses('{"id":1,"rows":[{}]}', { form }, /list of objects in "rows"/);
    await refuses(
      '{"id":1}\n{"id":2}\n',
      { form },
      /^The input is not a JSON array: it begins with "\{.*each line/,
    );
    const long = JSON.stringify({ rows: Array.from({ length: 2_000 }, (_, n) => ({ n })) });
    await refuses(long, { form, maxBytes: 1_000, size: 100 }, /in "rows"/);
  });
});

describe("the line of spreadsheets that names the delimiter", () => {
  test("is read before the header, and counts as a line", async () => {
    for (const size of [1, 3, 7, undefined])
      for (const end of ["\n", "\r\n", "\r"]) {
        const text = (first: string) => [`\ufeff${first}`, "a;b|c", "1;2", "", "1", ""].join(end);
        const lines = async (first: string, given: Given = {}) =>
          read(text(first), { form: "csv", size, ...given });
        const wrong = "5: invalid: has 1 cell, but the header has 2";
        assert.deepEqual(await lines("sep=;"), [{ a: "1", "b|c": "2" }, wrong]);
        assert.deepEqual(await lines("SEP=|"), [wrong.replace("5", "3"), wrong]);
        assert.deepEqual(await lines('"sep=;"'), [{ a: "1", "b|c": "2" }, wrong]);
        const named = await lines("sep=,", { delimiter: ";" });
        assert.deepEqual(named, [{ a: "1", "b|c": "2" }, wrong]);
      }
  });

  test("is a header if it names none", async () => {
    assert.deepEqual(await read("sep=\n1\n", { form: "csv" }), [{ "sep=": "1" }]);
    assert.deepEqual(await read("sep=e\n1\n", { form: "csv" }), [{ "sep=e": "1" }]);
    assert.deepEqual(await read("sep=§\na§b\n1§2\n", { form: "csv" }), [{ a: "1", b: "2" }]);
    assert.deepEqual(await read("sep=ab\n1\n", { form: "csv" }), [{ "sep=ab": "1" }]);
  });
});

describe("the header of CSV", () => {
  test("with a semicolon or a tab in a name is refused, unless a delimiter is named or the name is in quotes", async () => {
    const prices = "sku;net price,EUR\nA1;10,50\n";
    await refuses(
      prices,
      { form: "csv" },
      /has a column, "sku;net price"\. If ";" .*delimiter to ;\. If "," .* to ,\.$/,
    );
    await refuses("a\tb,c\n", { form: "csv" }, /If tab separates the columns, set delimiter to tab/);
    assert.deepEqual(await read(prices, { form: "csv", delimiter: "," }), [
      { "sku;net price": "A1;10", EUR: "50" },
    ]);
    assert.deepEqual(await read(prices, { form: "csv", delimiter: ";" }), [
      { sku: "A1", "net price,EUR": "10,50" },
    ]);
    assert.deepEqual(await read('"a;b",c\n1,2\n', { form: "csv" }), [{ "a;b": "1", c: "2" }]);
  });

  test("with a name that no attribute can have is refused with what to write", async () => {
    await refuses(
      ",name\n0,Ada\n",
      { form: "csv" },
      /^Column 1 of the header has no name: give it one, or remove the column\.$/,
    );
    await refuses(
      "a,Art.-Nr.\n",
      { form: "csv" },
      /^Column 2 of the header is "Art\.-Nr\.", with an empty name before or after a dot\. A dot leads into an object: rename the column, for example to "Art-Nr"\.$/,
    );
    await refuses("...\n", { form: "csv" }, /rename the column\.$/);
  });

  test("with one column is refused if another delimiter is in it, and believed with a comma that was named", async () => {
    for (const text of ["a;b\n1;2\n", "a|b\n", "a\tb\n"]) {
      await refuses(text, { form: "csv" }, /has only one column/);
      assert.equal((await read(text, { form: "csv", delimiter: "," })).length, text.split("\n").length - 2);
    }
    await refuses(
      '"a";"b"\n"1";"2"\n',
      { form: "csv" },
      /has ";" behind a name in quotes\. .* set delimiter to ;/,
    );
    for (const text of ['"a"\t"b"\n', '"a" \t "b"\n', '"a"\tb\n'])
      for (const size of [undefined, 1])
        await refuses(
          text,
          { form: "csv", size },
          /has tab behind a name in quotes\. .* set delimiter to tab/,
        );
    assert.match(String(await read('"a" "b"\n', { form: "csv" })), /^1: broken: quotes must enclose/);
    await refuses("a;b\n", { form: "csv", delimiter: "\t" }, /has only one column, "a;b"/);
    await refuses("a,b\n", { form: "csv", delimiter: ";" }, /has only one column, "a,b"\. If "," separates/);
  });
});
