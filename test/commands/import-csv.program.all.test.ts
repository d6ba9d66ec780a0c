import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { openCollection } from "../../src/collection/collection.ts";
import { defineCollection } from "../../src/collection/declaration.ts";
import type { Item, Items } from "../../src/import/items.ts";
import { readCsv } from "../../src/import/read-csv.ts";
import { delimiterNames, delimiters } from "../../src/query/table-form.ts";
import { anyCharacter } from "../characters.ts";
import { makeFolder } from "../folder.ts";
import { tableText } from "../http/tables.ts";
import { configuration, jsonLines, type Outcome, run } from "./cli.ts";

const products = {
  schema: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      price: { type: "number" },
      stock: { type: "integer" },
      onSale: { type: "boolean" },
      note: { type: ["string", "null"] },
      tags: { type: "array", items: { type: "string" } },
      maker: { type: "object", properties: { name: { type: "string" }, since: { type: "integer" } } },
      "size.cm": { type: "number" },
    },
  },
};

/** Checks for exit code 1 and one line that matches. */
function assertRefused(outcome: Outcome, says: RegExp): void {
  assert.equal(outcome.exitCode, 1, outcome.stderr);
  assert.equal(outcome.stdout, "");
  assert.match(outcome.stderr, says);
  assert.match(outcome.stderr, /^(?: {2}[^\n]+\n)*holdfast: [^\n]+\n$/);
}

test("cells become values of the declared types, empty cells are left out, and dotted columns become objects", async (t) => {
  const cwd = makeFolder({
    "products.csv": [
      "id,name,price,stock,onSale,note,tags,maker.name,maker.since,size.cm",
      'a,Lamp,-9.50,3,TRUE,null,"[""x"",""y""]",Ada,1999,4.5',
      'b,5,,,,"null",,,,',
      'c,"two\r\nlines",1e3,0,false,"",[],,2001,',
      "",
      ",,,,,,,,,",
      "d,'=1+1,,,,null?,,,,",
    ].join("\r\n"),
    ...configuration({ products }),
  });
  const { exitCode, stderr } = await run(t, ["import", "products", "products.csv"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.deepEqual(jsonLines((await run(t, ["export", "products"], { cwd })).stdout), [
    {
      id: "a",
      name: "Lamp",
      price: -9.5,
      stock: 3,
      onSale: true,
      note: null,
      tags: ["x", "y"],
      maker: { name: "Ada", since: 1999 },
      "size.cm": 4.5,
    },
    { id: "b", name: "5", note: "null" },
    {
      id: "c",
      name: "two\r\nlines",
      price: 1000,
      stock: 0,
      onSale: false,
      note: "",
      tags: [],
      maker: { since: 2001 },
    },
    { id: "d", name: "=1+1", note: "null?" },
  ]);
});

test("without a schema, every cell is a string; standard input, semicolons and a byte order mark work", async (t) => {
  const cwd = makeFolder();
  const input = "\ufeffid;n;author.name;author.born\n1;5;Ada;\n2;true;;\n";
  const args = ["import", "things", "-", "--format", "csv", "--delimiter", ";"];
  const { exitCode, stderr } = await run(t, args, { cwd, input });
  assert.equal(exitCode, 0, stderr);
  assert.deepEqual(jsonLines((await run(t, ["export", "things"], { cwd })).stdout), [
    { id: "1", n: "5", author: { name: "Ada" } },
    { id: "2", n: "true" },
  ]);
});

test("a .tsv file separates cells with tabs, and integer ids are numbers", async (t) => {
  const cwd = makeFolder({
    "things.tsv": "id\tname\n7\tA, B\n\tC\n",
    ...configuration({ things: { id: "integer" } }),
  });
  const { exitCode, stdout, stderr } = await run(t, ["import", "things", "things.tsv"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /^1 resource had no id and got a generated one: line 3$/m);
  assert.deepEqual(jsonLines((await run(t, ["export", "things"], { cwd })).stdout), [
    { id: 7, name: "A, B" },
    { id: 8, name: "C" },
  ]);
});

const badRows = [
  "id,name,price,stock,onSale,tags",
  "ok,Fine,1,2,true,[]",
  "a,,1,,,",
  'b,"two',
  'lines",many,,,',
  "c,C,,1.5,,",
  "d,D,,,,,extra",
  "e,E",
  "",
  "ok,Again,,,,",
  'f,F,,,maybe,"[1"',
  "g,G,123456789012345678901,,,",
];
const badLines = [
  /^ {2}line 3: .*name/m,
  /^ {2}line 4: "price" must be a number/m,
  /^ {2}line 6: "stock" must be /m,
  /^ {2}line 7: has 7 cells, but the header has 6$/m,
  /^ {2}line 8: has 2 cells, but the header has 6$/m,
  /^ {2}line 10: "id" is "ok", which already exists$/m,
  /^ {2}line 11: "onSale" must be .*"tags" must be /m,
  /^ {2}line 12: "price" is an integer outside ±9007199254740991: use a string instead\.$/m,
];

test("with one invalid row, nothing is imported, and the report lists every invalid row with its line and reason", async (t) => {
  const cwd = makeFolder({ "products.csv": badRows.join("\n"), ...configuration({ products }) });
  const outcome = await run(t, ["import", "products", "products.csv"], { cwd });
  assertRefused(
    outcome,
    /nothing was imported: 8 of 9 resources are invalid\. Correct the input, or import the rest with --skip-invalid\./,
  );
  for (const line of badLines) assert.match(outcome.stderr, line);
  assert.equal((await run(t, ["export", "products"], { cwd })).stdout, "");
  const skipping = await run(t, ["import", "products", "products.csv", "--skip-invalid"], { cwd });
  assert.match(skipping.stdout, /^1 resource imported into products/m);
  for (const line of badLines) assert.match(skipping.stderr, line);
});

const refusals: readonly { name: string; csv: string | Buffer; args?: string[]; says: RegExp }[] = [
  {
    name: "a column that the schema does not know",
    csv: "id,nmae\n",
    says: /The header names "nmae", which is not an attribute of products\. Did you mean "name"\?/,
  },
  {
    name: "a nested column that the schema does not know",
    csv: "maker.nam\n",
    says: /"maker\.nam", which is not an attribute of products\. Did you mean "name"\?/,
  },
  {
    name: "a column named twice",
    csv: "name,stock,name\n",
    says: /names "name" twice\. Remove one of these columns\.$/m,
  },
  {
    name: "a column and a part of it",
    csv: "maker.name,maker\n",
    says: /names both "maker" and "maker\.name", which is part of it/,
  },
  { name: "a column without a name", csv: "name,,stock\n", says: /Column 2 of the header has no name/ },
  {
    name: "another delimiter",
    csv: "name;stock\nA;1\n",
    says: /If ";" separates the columns, add --delimiter ";"\./,
  },
  {
    name: "a delimiter that cannot be one",
    csv: "",
    args: ["--delimiter", "ab"],
    says: /--delimiter must be one/,
  },
  {
    name: "a delimiter for JSON",
    csv: "",
    args: ["--format", "json", "--delimiter", ";"],
    says: /add --format csv/,
  },
  { name: "UTF-16", csv: Buffer.from("\ufeffname\nA\n", "utf16le"), says: /UTF-16/ },
  {
    name: "another encoding",
    csv: Buffer.from("name\nA\nZoé\n", "latin1"),
    says: /line 3: is not UTF-8: save the file as "CSV UTF-8"; the rest was not read\n.*the rest of the input cannot be read/,
  },
  {
    name: "text behind a cell in quotes",
    csv: 'name,stock\nA,1\n"5" pipe,1\n',
    says: /line 3: quotes must enclose a whole cell.*\n.*the rest of the input cannot be read/,
  },
  { name: "text after a quote", csv: 'name\n"A"B\n', says: /line 2: quotes must enclose a whole cell/ },
  {
    name: "a quote that is never closed",
    csv: 'name,note\nA,"x\ny"\n\nB,"open\nC,\n',
    says: /line 5: a quote is opened but never closed/,
  },
];

for (const { name, csv, args = [], says } of refusals) {
  test(`import refuses CSV with ${name} in one line, also with --skip-invalid`, async (t) => {
    const cwd = makeFolder({ "products.csv": csv, ...configuration({ products }) });
    assertRefused(
      await run(t, ["import", "products", "products.csv", "--skip-invalid", ...args], { cwd }),
      says,
    );
  });
}

const advice = (option: string) => `take ${option}`;

const dealt = async (text: string | Buffer, size: number): Promise<Item[]> => {
  const bytes = Buffer.from(text as string);
  async function* chunks() {
    for (let begin = 0; begin < bytes.length; begin += size) yield bytes.subarray(begin, begin + size);
  }
  const collection = openCollection("things");
  const items = readCsv(chunks(), { collection, delimiter: ",", maxBytes: 1_000, advice });
  return collect(items);
};

async function collect(all: AsyncIterable<Items>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const { items } of all) collected.push(...items);
  return collected;
}

test("chunks can end anywhere: inside characters, quotes and line ends", async () => {
  const text = '\ufeff"id",é\r\na,"x""y\r\n€"\r\n\r\nb,𝄞\nc,"",\rd,"e"';
  const whole = await dealt(text, text.length * 4);
  assert.deepEqual(
    whole.map((item) => [item.location.line, item.kind === "text" ? item.bytes.toString() : item.kind]),
    [
      [2, '{"id":"a","é":"x\\"y\\r\\n€"}'],
      [5, '{"id":"b","é":"𝄞"}'],
      [6, "invalid"],
      [7, '{"id":"d","é":"e"}'],
    ],
  );
  for (const size of [1, 2, 3, 4, 5, 7]) assert.deepEqual(await dealt(text, size), whole);
});

test("the report names the line of bytes that are not UTF-8, for any size of chunk", async () => {
  const bytes = Buffer.concat([
    Buffer.from("id,é\na,€\n"),
    Buffer.from([0x62, 0x2c, 0xe2, 0x82, 0x0a]),
    Buffer.from("c,\n"),
  ]);
  for (const size of [1, 2, 3, 5, 100]) {
    const last = (await dealt(bytes, size)).at(-1);
    assert.deepEqual([last?.kind, last?.location], ["broken", { line: 3 }]);
  }
  assert.equal((await dealt(Buffer.from([0x61, 0x0a, 0xe2]), 10)).at(-1)?.location.line, 2);
});

test("a row over the limit ends the import, and a row whose JSON text is over the limit is invalid", async () => {
  const [row] = await dealt(`id,n\na,"${"x".repeat(1_100)}"\nb,1\n`, 64);
  assert.deepEqual([row?.kind, row?.location.line], ["broken", 2]);
  const [bad, good] = await dealt(`id,n\na,${"\\".repeat(600)}\nb,1\n`, 64);
  assert.deepEqual([bad?.kind, bad?.location.line, good?.kind], ["invalid", 2, "text"]);
});

test("readCsv returns the rows of each chunk before it reads the next chunk", async () => {
  const chunk = Buffer.from(`${"a".repeat(90)},"b"\n`.repeat(2_000));
  async function* chunks() {
    yield Buffer.from("x,y\n");
    for (let n = 0; n < 100; n++) yield chunk;
  }
  let rows = 0;
  let most = 0;
  const options = { collection: openCollection("things"), delimiter: ",", maxBytes: 1_000, advice };
  for await (const { items } of readCsv(chunks(), options)) {
    rows += items.length;
    most = Math.max(most, items.length);
  }
  assert.equal(rows, 200_000);
  assert.ok(most <= 2_001, `${most} items at once`);
});

test("the CSV of a collection becomes the same resources again", async () => {
  const schema = {
    type: "object",
    properties: {
      text: { type: "string" },
      number: { type: "number" },
      integer: { type: "integer" },
      truth: { type: "boolean" },
      nothing: { type: "null" },
      maybe: { type: ["string", "null"] },
      either: { anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }] },
      list: { type: "array" },
      object: { type: "object", additionalProperties: true },
      "dotted.name": { type: "string" },
      "=formula": { type: "string" },
      " blanks ": { type: "string" },
    },
  };
  const collection = await defineCollection("things", { schema });
  const begin = fc.constantFrom("", "'", "=", "'=", "-", "\t", ";", "[", "{", "null", "1", " 1", "true");
  const text = fc
    .tuple(
      begin,
      fc.string({ unit: anyCharacter }).map((each) => each.replaceAll("\0", "")),
    )
    .map((parts) => parts.join(""));
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => (each === 0 ? 0 : each));
  const json = fc
    .jsonValue({ noUnicodeString: true } as object)
    .map((each) => JSON.parse(JSON.stringify(each)));
  const arbitrary = fc.array(
    fc.record(
      {
        text,
        number,
        integer: fc.maxSafeInteger().map((each) => (each === 0 ? 0 : each)),
        truth: fc.boolean(),
        nothing: fc.constant(null),
        maybe: fc.option(text),
        either: fc.oneof(text, number, fc.boolean()),
        list: fc.array(json),
        object: fc.dictionary(fc.string(), json, { noNullPrototype: true }),
        "dotted.name": text,
        "=formula": text,
        " blanks ": text,
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  );
  const form = fc.record({ bom: fc.boolean(), delimiter: fc.constantFrom(...delimiterNames) });
  await fc.assert(
    fc.asyncProperty(arbitrary, fc.integer({ min: 1, max: 50 }), form, async (values, size, table) => {
      const texts = values.map((value, n) => JSON.stringify({ id: `id-${n}`, ...value }));
      const bytes = Buffer.from(tableText(texts, undefined, table));
      async function* chunks() {
        for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
      }
      const items = readCsv(chunks(), {
        collection,
        delimiter: delimiters[table.delimiter],
        maxBytes: 1e6,
        advice,
      });
      const back = await collect(items);
      assert.deepEqual(
        back.map((item) => (item.kind === "text" ? JSON.parse(item.bytes.toString()) : item)),
        texts.map((each) => JSON.parse(each)),
      );
    }),
    { numRuns: 60 },
  );
});

test("import reads a large file completely", async (t) => {
  const cwd = makeFolder(configuration({ things: { schema: { properties: { n: { type: "integer" } } } } }));
  const rows = Array.from({ length: 30_000 }, (_, n) => `id-${n},${n}`);
  await writeFile(join(cwd, "things.csv"), `id,n\n${rows.join("\n")}\n`);
  const { stdout, stderr } = await run(t, ["import", "things", "things.csv"], { cwd });
  assert.match(stdout, /^30,000 resources imported into things/m, stderr);
});
