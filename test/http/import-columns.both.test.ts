/** The columns of a CSV import: their types, those of stored resources, and what was converted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import { type Answer, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({
  openCollections: true,
  collections: {
    orders: {
      schema: {
        properties: {
          paid: { type: "boolean" },
          price: { type: "number" },
          at: { type: "string", format: "date-time" },
          tags: { type: "array", items: { type: "string" } },
        },
        additionalProperties: true,
      },
    },
  },
});

let made = 0;
const newName = () => `c${++made}`;

const send = (name: string, body: string, query = "", headers = {}) =>
  service.send({
    method: "POST",
    path: `/api/v1/${name}/_import${query}`,
    headers: { "Content-Type": "text/csv", ...headers },
    body,
  });

const list = async (name: string) =>
  (await service.send({ path: `/api/v1/${name}?sort=id` })).json as Record<string, unknown>[];

const columnsOf = (answer: Answer) => {
  check(answer, { status: 200 });
  return (answer.json as { columns: { name: string; types: string[]; inferred?: string }[] }).columns;
};

function refused(answer: Answer, says: RegExp): void {
  check(answer, { status: 400, problem: "INVALID_IMPORT" });
  assert.match((answer.json as { detail: string }).detail, says);
}

const people = "id,name,age,zip,member,born\na,Ada,5,00123,true,2001-01-31\nb,Bo,6,1234,false,\n";

describe("the columns of a file", () => {
  test("are texts, and a dry run says what they would be with types=infer", async () => {
    const name = newName();
    const columns = columnsOf(await send(name, people, "?dryRun=true"));
    assert.deepEqual(columns.slice(0, 4), [
      { name: "id", types: ["string"] },
      {
        name: "name",
        types: ["string"],
        inferred: "string",
        found: { number: 0, boolean: 0, date: 0, string: 2, empty: 0 },
        prevents: { line: 2, value: "Ada" },
      },
      {
        name: "age",
        types: ["string"],
        inferred: "number",
        found: { number: 2, boolean: 0, date: 0, string: 0, empty: 0 },
      },
      {
        name: "zip",
        types: ["string"],
        inferred: "string",
        found: { number: 1, boolean: 0, date: 0, string: 1, empty: 0 },
        prevents: { line: 2, value: "00123" },
      },
    ]);
    assert.deepEqual(
      columns.slice(4).map(({ types, inferred }) => [types, inferred]),
      [
        [["string"], "boolean"],
        [["string"], "date"],
      ],
    );
    assert.deepEqual(columnsOf(await send(name, people)), columns, "the import reports the same");
    assert.deepEqual((await list(name))[0], {
      id: "a",
      name: "Ada",
      age: "5",
      zip: "00123",
      member: "true",
      born: "2001-01-31",
    });
  });

  test("have the types of all their cells with types=infer", async () => {
    const name = newName();
    const before = columnsOf(await send(name, people, "?types=infer&dryRun=true"));
    const columns = columnsOf(await send(name, people, "?types=infer"));
    assert.deepEqual(before, columns);
    assert.deepEqual(
      columns.map(({ types }) => types),
      [["string"], ["string"], ["number"], ["string"], ["boolean"], ["date"]],
    );
    assert.deepEqual((await list(name))[1], { id: "b", name: "Bo", age: 6, zip: "1234", member: false });
  });

  test("are not in the report of JSON", async () => {
    const answer = await send(newName(), "[]", "", { "Content-Type": "application/json" });
    assert.equal(Object.hasOwn(answer.json as object, "columns"), false);
  });

  test("are in the first response of a task", async () => {
    const answer = await send(newName(), people, "?types=infer&dryRun=true", { Prefer: "respond-async" });
    check(answer, { status: 202 });
    const { report } = answer.json as { report: { columns: { types: string[] }[] } };
    assert.deepEqual(report.columns[2]?.types, ["number"]);
  });

  test("are at most 1,000 in the report", async () => {
    const names = Array.from({ length: 1_001 }, (_, n) => `n${n}`);
    assert.equal(columnsOf(await send(newName(), `${names}\n`)).length, 1_000);
  });
});

describe("with types=infer, stored resources of another type refuse the file", () => {
  for (const [what, stored, file, says] of [
    ["a text beside numbers", { n: "x" }, "n\n5\n", /The column "n" has numbers, but c\d+\/first has "x" in/],
    ["a number beside texts", { n: 5 }, "n\nx\n", /The column "n" has texts, but c\d+\/first has 5 in/],
    ["a number beside booleans", { n: 0 }, "n\ntrue\n", /has booleans, but c\d+\/first has 0 in/],
    ["a boolean beside dates", { n: false }, "n\n2026-01-31\n", /has dates, but c\d+\/first has false in/],
    ["an array", { n: [5] }, "n\n5\n", /has numbers, but c\d+\/first has \[5\] in/],
    ["a part of an object", { o: { n: "5" } }, "o.n\n5\n", /The column "o\.n" has numbers/],
  ] as const)
    test(what, async () => {
      const name = newName();
      const lines = [
        { id: "first", ...stored },
        { id: "null", n: null },
      ];
      const body = lines.map((each) => `${JSON.stringify(each)}\n`).join("");
      check(await send(name, body, "", { "Content-Type": "application/x-ndjson" }), { status: 200 });
      refused(await send(name, file, "?types=infer"), says);
      refused(await send(name, file, "?types=infer&dryRun=true"), says);
      refused(await send(name, file, "?types=infer", { Prefer: "respond-async" }), says);
      assert.equal((await list(name)).length, 2);
    });

  test("but not those of the same type, null, or of attributes that no cell has", async () => {
    const name = newName();
    const body = '{"n":-1,"d":"text","e":5}\n{"n":null}\n{"n":1.5,"b":true}\n{}\n';
    check(await send(name, body, "", { "Content-Type": "application/x-ndjson" }), { status: 200 });
    columnsOf(await send(name, "n,d,b,e\n5,2026-01-31,false,\n", "?types=infer"));
    assert.equal((await list(name)).length, 5);
  });

  test("also in the last of many columns", async () => {
    const name = newName();
    check(await send(name, '{"n49":"x"}\n', "", { "Content-Type": "application/x-ndjson" }), { status: 200 });
    const [many, tooMany] = [60, 1_001].map((length) => Array.from({ length }, (_, n) => `n${n}`));
    const row = (names: readonly string[] = []) => `${names}\n${names.map(() => 1)}\n`;
    refused(await send(name, row(many), "?types=infer"), /The column "n49"/);
    refused(await send(name, row(tooMany), "?types=infer"), /1001 columns have no declared type/);
    assert.equal(columnsOf(await send(newName(), row(tooMany), "?types=infer")).length, 1_000);
  });
});

describe("conversions", () => {
  const file = 'id,paid,price,at,tags,note\na,t,"1,5",2026-01-02 03:04:05.123456+00,"{x,""y z""}",t\n';

  test("are done for the declared types, and counted", async () => {
    const query = "?convert=booleans,numbers,times,arrays";
    const columns = columnsOf(await send("orders", file, `${query}&dryRun=true`));
    assert.deepEqual(columns.slice(1, 5), [
      { name: "paid", types: ["boolean"], converted: 1 },
      { name: "price", types: ["number"], converted: 1 },
      { name: "at", types: ["date"], converted: 1, cut: 1 },
      { name: "tags", types: ["array"], converted: 1 },
    ]);
    assert.deepEqual(columnsOf(await send("orders", file, query)), columns);
    assert.deepEqual(await list("orders"), [
      { id: "a", paid: true, price: 1.5, at: "2026-01-02T03:04:05.123Z", tags: ["x", "y z"], note: "t" },
    ]);
  });

  test("that fail name the line, the attribute, the value and what would be right", async () => {
    const answer = await send("orders", 'paid,price\nt,5\nja,"1,234"\n', "?convert=booleans,numbers");
    check(answer, { status: 400, problem: "INVALID_IMPORT" });
    assert.deepEqual((answer.json as { report: { errors: unknown } }).report.errors, [
      {
        line: 3,
        pointer: "#/paid",
        code: "convert",
        detail: "is not true or false, t or f, yes or no, 1 or 0",
        value: '"ja"',
      },
      {
        line: 3,
        pointer: "#/price",
        code: "convert",
        detail: "can be 1234 or 1.234: write one of them",
        value: '"1,234"',
      },
    ]);
  });

  test("of times without an offset need a time zone", async () => {
    const times = "id,at\nz,2026-01-02 03:04:05\n";
    const answer = await send("orders", times, "?convert=times");
    check(answer, { status: 400, problem: "INVALID_IMPORT" });
    assert.match(answer.text, /has no offset from UTC.*add \?timezone=Europe%2FBerlin to the path/);
    columnsOf(await send("orders", times, "?convert=times&timezone=Europe/Berlin"));
    assert.equal((await list("orders")).at(-1)?.at, "2026-01-02T02:04:05.000Z");
    refused(
      await send(newName(), times, "?convert=times&types=infer"),
      /The column "at" has times without an offset from UTC, such as "2026-01-02 03:04:05" on line 2/,
    );
  });

  test("that no column asks for are refused", async () => {
    refused(await send(newName(), "a\nt\n", "?convert=booleans"), /add \?types=infer to the path/);
  });
});

describe("parameters of columns", () => {
  for (const [query, says] of [
    ["?types=guess", /must be text or infer/],
    ["?convert=all", /must be some of booleans, numbers, times, arrays, nulls, with commas between them/],
    ["?convert=", /must be some of/],
    ["?convert=times,times", /must be some of/],
    ["?timezone=Europe/Berlin", /applies only to the conversion of times/],
    ["?convert=times&timezone=Europe/Berlim", /must be the name of a time zone/],
    ["?convert=times&timezone=%2B01:00", /must be the name of a time zone/],
  ] as const)
    test(`${query} is refused`, async () => {
      const answer = await send(newName(), "a\n1\n", query);
      check(answer, { status: 400, problem: "INVALID_PARAMETER" });
      assert.match(answer.text, says);
    });

  test("are refused for JSON", async () => {
    const answer = await send(newName(), "[]", "?types=infer&convert=numbers", {
      "Content-Type": "application/json",
    });
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
    assert.equal((answer.json as { violations: unknown[] }).violations.length, 2);
  });
});
