/** What the cells of CSV are: by the schema, as texts, or as all cells of a column are. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type Collection, openCollection } from "../../src/collection/collection.ts";
import { timeZone } from "../../src/collection/time-zones.ts";
import { StartError } from "../../src/errors.ts";
import { tablePieces } from "../../src/http/lists/csv.ts";
import type { ColumnSummary } from "../../src/import/cells.ts";
import { conversionNames } from "../../src/import/conversions.ts";
import { readInput } from "../../src/import/input.ts";

const collectionOf = ({ schema }: { schema: object }) => ({
  ...openCollection("things"),
  schema: JSON.stringify(schema),
});

interface Given {
  collection?: Collection;
  types?: "text" | "infer";
  convert?: readonly (typeof conversionNames)[number][];
  timezone?: string;
}

interface Found {
  /** The values of the resources, or the attributes and what is wrong with them. */
  items: unknown[];
  columns: readonly ColumnSummary[];
}

async function read(
  text: string,
  { collection = openCollection("things"), types, convert, timezone }: Given = {},
): Promise<Found> {
  const items: unknown[] = [];
  let columns: readonly ColumnSummary[] = [];
  const rules = {
    collection,
    maxBytes: 100_000,
    types,
    convert: convert && new Set(convert),
    timezone: timezone === undefined ? undefined : timeZone(timezone),
    advice: (name: string, value: string) => `add ${name}=${value}`,
    onColumns(found: readonly ColumnSummary[]) {
      columns = found;
    },
  };
  async function* bytes() {
    yield Buffer.from(text);
  }
  for await (const part of readInput(bytes(), { form: "csv" }, rules))
    for (const item of part.items)
      items.push(
        item.kind === "text"
          ? JSON.parse(item.bytes.toString())
          : item.kind === "refused"
            ? item.violations.map(
                ({ pointer, detail, value }) => `${item.location.line} ${pointer} ${detail}: ${value}`,
              )
            : `${item.location.line} ${item.reason}`,
      );
  return { items, columns };
}

/** The values of one column, and what was found in it. */
async function column(cells: readonly string[], given: Given = {}) {
  const { items, columns } = await read(`n,a\n${cells.map((cell) => `1,${cell}\n`).join("")}`, given);
  const values = items.map((item) =>
    typeof item === "object" && "a" in (item as object) ? (item as { a: unknown }).a : item,
  );
  return { values, ...(columns[1] as ColumnSummary) };
}

const infer = { types: "infer" } as const;

describe("with types=infer, a column is", () => {
  for (const [name, cells, type, values] of [
    [
      "numbers",
      ["1", "-2.5", "0", "9007199254740991", "1e-7"],
      "number",
      [1, -2.5, 0, 9007199254740991, 1e-7],
    ],
    ["booleans", ["true", "false"], "boolean", [true, false]],
    ["dates", ["2026-01-31", "2026-01-31T08:30:00.000Z"], "date", ["2026-01-31", "2026-01-31T08:30:00.000Z"]],
    ["numbers in quotes, if all are in quotes", ['"1"', '"2"'], "number", [1, 2]],
  ] as const)
    test(name, async () => {
      const found = await column(cells, infer);
      assert.deepEqual(found.values, values);
      assert.deepEqual([found.types, found.inferred, found.prevents], [[type], type, undefined]);
    });

  for (const cell of [
    "00123",
    "1.0",
    "+5",
    "1e3",
    "-0",
    ".5",
    "1.",
    " 7",
    "9007199254740993",
    "9007199254740992",
    "1e+21",
    "0.12345678901234567890",
    "TRUE",
    "null",
    "NaN",
    "Infinity",
    "2026-02-30",
    "2026-01-31T08:30:00Z",
    "01/02/2026",
    '"6"',
    '""',
  ])
    test(`texts, because of ${cell}`, async () => {
      const found = await column(["5", cell], infer);
      assert.equal(found.values[0], "5");
      assert.deepEqual(found.types, ["string"]);
      assert.deepEqual([found.prevents?.line, found.prevents?.value], [3, cell.replace(/^"|"$/g, "")]);
    });

  test("texts, if it has numbers and booleans, and the rarer one is the example", async () => {
    const { types, found, prevents } = await column(["1", "true", "2"], infer);
    assert.deepEqual(types, ["string"]);
    assert.deepEqual(found, { number: 2, boolean: 1, date: 0, string: 0, empty: 0 });
    assert.deepEqual(prevents, { line: 3, value: "true" });
  });

  test("what its cells are, whatever is empty", async () => {
    const { types, found, values } = await column(["", "5", ""], infer);
    assert.deepEqual([types, values.slice(1, 2)], [["number"], [5]]);
    assert.equal(found?.empty, 2);
    assert.deepEqual((await read("n,a\n1,\n", infer)).columns[1]?.types, ["string"]);
  });

  test("without the empty texts of a program that puts all cells in quotes, and with them if others have none", async () => {
    assert.deepEqual((await read('"n","a"\n"1","5"\n"2",""\n', infer)).items, [{ n: 1, a: 5 }, { n: 2 }]);
    assert.deepEqual((await read('"n","a"\n"1","5"\n"2",""\n"3",\n', infer)).items, [
      { n: 1, a: "5" },
      { n: 2, a: "" },
      { n: 3 },
    ]);
  });

  test("found out from all rows before the first item, and in their order", async () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => `${n},${n}`);
    const { items } = await read(`n,a\n${rows.join("\n")}\n1\n7,x\n`, infer);
    assert.equal(items.length, 5_002);
    assert.deepEqual(items.slice(-3), [
      { n: 4999, a: "4999" },
      "5002 has 1 cell, but the header has 2",
      { n: 7, a: "x" },
    ]);
  });

  test("never the id, and never what the schema declares", async () => {
    const collection = collectionOf({
      schema: {
        properties: { zip: { type: "string" }, tags: { type: ["array", "null"] } },
        additionalProperties: true,
      },
    });
    const { items, columns } = await read("id,zip,tags,n\n1,123,[1],4\n", { ...infer, collection });
    assert.deepEqual(items, [{ id: "1", zip: "123", tags: [1], n: 4 }]);
    assert.deepEqual(
      columns.map(({ name, types, inferred }) => [name, types, inferred]),
      [
        ["id", ["string"], undefined],
        ["zip", ["string"], undefined],
        ["tags", ["array", "null"], undefined],
        ["n", ["number"], "number"],
      ],
    );
  });
});

test("without types=infer, every cell is a text, and the columns say what it would be", async () => {
  const { values, types, inferred, found, prevents } = await column(["5", "6"]);
  assert.deepEqual([values, types, inferred, prevents], [["5", "6"], ["string"], "number", undefined]);
  assert.deepEqual(found, { number: 2, boolean: 0, date: 0, string: 0, empty: 0 });
});

test("what is inferred comes back as the same text, with or without types", async () => {
  const cell = fc.oneof(
    fc.stringMatching(/^[-+]?[0-9]{1,20}(\.[0-9]{1,5})?(e[0-9]{1,2})?$/),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom("true", "false", "2026-01-31", "null", "t"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 3 }), async (cells) => {
      const { items, columns } = await read(
        `id,a\n${cells.map((each, n) => `r${n},${each}\n`).join("")}`,
        infer,
      );
      if (columns[1]?.types[0] === "string") return;
      const text = [
        ...tablePieces(
          ["id", "a"],
          items.map((item) => JSON.stringify(item)),
        ),
      ].join("");
      assert.equal(text, `id,a\r\n${cells.map((each, n) => `r${n},${each}\r\n`).join("")}`);
    }),
  );
});

const declared = collectionOf({
  schema: {
    properties: {
      ok: { type: "boolean" },
      maybe: { type: ["boolean", "string"] },
      price: { type: ["number", "null"] },
      exact: { type: "string", format: "decimal" },
      at: { type: "string", format: "date-time" },
      day: { type: "string", format: "date" },
      tags: { type: "array", items: { type: "string" } },
      counts: { type: "array", items: { type: "integer" } },
      flags: { type: "array", items: { type: "boolean" } },
    },
  },
});

/** The value of one cell in a declared attribute. */
async function converted(name: string, cell: string, given: Given = {}): Promise<unknown> {
  const text = `${name}\n"${cell.replaceAll('"', '""')}"\n`;
  const { items } = await read(text, { collection: declared, convert: conversionNames, ...given });
  const [item] = items as [Record<string, unknown>];
  return Array.isArray(item) ? item : item[name];
}

describe("a conversion", () => {
  for (const [name, cell, value] of [
    ["ok", "t", true],
    ["ok", "F", false],
    ["ok", "Yes", true],
    ["ok", "no", false],
    ["ok", "1", true],
    ["ok", "0", false],
    ["ok", "TRUE", true],
    ["price", "1,5", 1.5],
    ["price", "-12,50", -12.5],
    ["price", "0,123", 0.123],
    ["price", "1234,567", 1234.567],
    ["price", "12.25", 12.25],
    ["price", "null", null],
    ["exact", "12,50", "12.50"],
    ["exact", "12.50", "12.50"],
    ["at", "2026-01-02 03:04:05.123456+00", "2026-01-02T03:04:05.123Z"],
    ["at", "2026-01-02 03:04:05+05:30", "2026-01-01T21:34:05.000Z"],
    ["at", "2026-01-02T03:04:05.5-02:00", "2026-01-02T05:04:05.500Z"],
    ["at", "2026-01-02t03:04:05z", "2026-01-02T03:04:05.000Z"],
    ["at", "2026-01-02 03:04:05.999999999 +0000 UTC m=+0.000000001", "2026-01-02T03:04:05.999Z"],
    ["at", "2026-01-02 03:04:05 +0100 CET", "2026-01-02T02:04:05.000Z"],
    ["at", "2026-01-02 03:04:05 UTC", "2026-01-02T03:04:05.000Z"],
    ["at", "2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05.000Z"],
    ["tags", '{a,"b, ""c""",NULL}', undefined],
    ["tags", '{a,"b, \\"c\\"",NULL,"NULL"}', ["a", 'b, "c"', null, "NULL"]],
    ["tags", '["x"]', ["x"]],
    ["tags", "{}", []],
    ["counts", "{1,-2}", [1, -2]],
    ["flags", "{t,f}", [true, false]],
  ] as const)
    test(`of ${cell} into ${name}`, async () => {
      const found = await converted(name, cell);
      if (value === undefined) assert.match(String(found), /is not an array, such as/);
      else assert.deepEqual(found, value);
    });

  for (const [name, cell, says] of [
    ["ok", "2", /2 #\/ok is not true or false, t or f, yes or no, 1 or 0: "2"/],
    ["ok", "ja", /is not true or false/],
    ["price", "1,234", /can be 1234 or 1\.234: write one of them/],
    ["price", "1.234,5", /has a comma and a point/],
    ["price", "1,234.5", /has a comma and a point/],
    ["price", "1,234,567", /has several commas/],
    ["price", "n/a", /is not a number/],
    ["exact", "1,234", /can be 1234 or 1\.234/],
    ["at", "01/02/2026", /is not a time such as/],
    ["at", "2026-01-02", /is not a time such as/],
    [
      "at",
      "2026-01-02 03:04:05",
      /has no offset from UTC\. If it is a time in Berlin, for example, add timezone=Europe\/Berlin/,
    ],
    ["at", "2026-02-30 03:04:05Z", /is a time that does not exist/],
    ["at", "2026-01-02 03:04:05+00 BC", /is not a time such as/],
    ["at", "infinity", /is not a time such as/],
    ["counts", "{1,x}", undefined],
    ["tags", "{a", /is not an array/],
    ["tags", "a,b", /is not an array/],
  ] as const)
    test(`refuses ${cell} for ${name}`, async () => {
      const found = await converted(name, cell);
      // An item of another type is left to the schema.
      if (says === undefined) assert.deepEqual(found, [1, "x"]);
      else assert.match(String(found), says);
    });

  test("of times without an offset needs their time zone, in which each must exist once", async () => {
    const at = (text: string) => converted("at", text, { timezone: "Europe/Berlin" });
    assert.equal(await at("2026-01-02 03:04:05"), "2026-01-02T02:04:05.000Z");
    assert.equal(await at("2026-07-02T03:04"), "2026-07-02T01:04:00.000Z");
    assert.equal(await at("2026-07-02 03:04:05+00"), "2026-07-02T03:04:05.000Z");
    assert.match(String(await at("2026-03-29 02:30:00")), /does not exist in Europe\/Berlin/);
    assert.match(String(await at("2026-10-25 02:30:00")), /occurs twice in Europe\/Berlin/);
  });

  test("of nulls leaves NULL without quotes out, whatever the attribute", async () => {
    const text = 'price,ok,maybe\n\\N,NULL,\\N\n1,t,"NULL"\n"\\N",,null\n';
    const open = await read(text, { types: "infer", convert: ["nulls"] });
    assert.deepEqual(open.items, [
      {},
      { price: "1", ok: "t", maybe: "NULL" },
      { price: "\\N", maybe: "null" },
    ]);
    assert.deepEqual(
      open.columns.map(({ converted, found }) => [converted, found?.empty]),
      [
        [1, 1],
        [1, 2],
        [1, 1],
      ],
    );
    const numbers = await read("n\n\\N\n5\n", { types: "infer", convert: ["nulls"] });
    assert.deepEqual(numbers.items, [{}, { n: 5 }]);
    const schema = await read(text, { collection: declared, convert: ["nulls", "booleans"] });
    assert.deepEqual(schema.items.slice(0, 2), [{}, { price: 1, ok: true, maybe: "NULL" }]);
    assert.deepEqual((await read("a\n\\N\n", { convert: ["nulls"] })).items, [{}]);
    assert.deepEqual((await read("a\n\\N\n")).items, [{ a: "\\N" }]);
  });

  test("is done only if it is asked for", async () => {
    assert.equal(
      await converted("ok", "t", { convert: ["numbers", "times", "arrays"] }).catch(
        (error: Error) => error.message,
      ),
      "There is nothing to convert into: no column has an attribute that the schema declares with a type for these conversions. Declare its type, or add types=infer.",
    );
    const { items } = await read('ok,price\nt,"1,5"\n', { collection: declared, convert: ["numbers"] });
    assert.deepEqual(items, [{ ok: "t", price: 1.5 }]);
    const maybe = await read("maybe,ok\nt,t\n", { collection: declared, convert: ["booleans"] });
    assert.deepEqual(maybe.items, [{ maybe: "t", ok: true }]);
    assert.deepEqual((await read("ok\nt\n", { collection: declared })).items, [{ ok: "t" }]);
    await assert.rejects(read("a\nt\n", { convert: ["booleans"] }), StartError);
  });

  test("of numbers refuses a column with decimal commas and decimal points", async () => {
    const { items } = await read('price\n"1,5"\n7\n1.5\n', { collection: declared, convert: ["numbers"] });
    assert.deepEqual(items, [
      { price: 1.5 },
      { price: 7 },
      ['4 #/price has a decimal point, but line 2 has a decimal comma: "1.5"'],
    ]);
    const other = await read('price\n1.5\n"1,5"\n', { collection: declared, convert: ["numbers"] });
    assert.deepEqual(other.items[1], [
      '3 #/price has a decimal comma, but line 2 has a decimal point: "1,5"',
    ]);
    const open = await column(['"1,5"', '"2.5"'], { ...infer, convert: ["numbers"] });
    assert.deepEqual([open.types, open.prevents?.line], [["string"], 3]);
  });

  test("is counted for each column, and so is what it cuts off", async () => {
    const { columns } = await read(
      "at,ok\n2026-01-02 03:04:05.0000+00,t\n2026-01-02 03:04:05.1234+00,true\n",
      {
        collection: declared,
        convert: ["times", "booleans"],
      },
    );
    assert.deepEqual(columns, [
      { name: "at", types: ["date"], converted: 2, cut: 1 },
      { name: "ok", types: ["boolean"], converted: 1 },
    ]);
  });

  test("touches an inferred column only if every cell converts, and never makes a boolean of 1 or 0", async () => {
    const given = { ...infer, convert: conversionNames };
    assert.deepEqual((await column(["t", "no"], given)).values, [true, false]);
    assert.deepEqual((await column(["t", "1"], given)).values, ["t", "1"]);
    assert.deepEqual((await column(["1", "0"], given)).values, [1, 0]);
    assert.deepEqual((await column(['"1,5"', '"2,50"'], given)).values, [1.5, 2.5]);
    assert.deepEqual((await column(["{a}", "{b}"], given)).values, ["{a}", "{b}"]);
    const mixed = await column(["2026-01-02 03:04:05+00", "2026-01-02"], given);
    assert.deepEqual(mixed.values, ["2026-01-02T03:04:05.000Z", "2026-01-02"]);
    const ambiguous = await column(['"1,5"', '"1,234"'], given);
    assert.deepEqual(ambiguous.values, ["1,5", "1,234"]);
    assert.deepEqual(ambiguous.prevents, {
      line: 3,
      value: "1,234",
      detail: "can be 1234 or 1.234: write one of them",
    });
    await assert.rejects(column(["2026-01-02 03:04:05", "2026-01-02 03:04:05Z"], given), {
      message:
        'The column "a" has times without an offset from UTC, such as "2026-01-02 03:04:05" on line 2. If they are times in Berlin, for example, add timezone=Europe/Berlin.',
    });
    assert.deepEqual((await column(["2026-01-02 03:04:05", "x"], given)).types, ["string"]);
  });
});
