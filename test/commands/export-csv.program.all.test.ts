import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run, start } from "./cli.ts";

const lines = [
  '{"id":"a","n":-5,"note":"=1+1"}',
  '{"id":"b","note":"","tags":["x","y"]}',
  '{"id":"c","note":null,"price":"-12.50"}',
];
const table = `id,n,note,tags,price\r\na,-5,'=1+1,,\r\nb,,"","[""x"",""y""]",\r\nc,,null,,-12.50\r\n`;
const things = {
  schema: {
    properties: {
      n: { type: "integer" },
      note: { type: ["string", "null"] },
      tags: { type: "array" },
      price: { type: "string", format: "decimal" },
    },
  },
};

for (const from of ["--format csv", "the name of --output"]) {
  test(`an export is CSV because of ${from}, and importing it gives the same resources`, async (t) => {
    const cwd = makeFolder({ things: lines.join("\n"), ...configuration({ things }) });
    await run(t, ["import", "things", "things"], { cwd });
    const flags = from === "--format csv" ? ["--format", "csv"] : ["--output", "out.csv"];
    const { exitCode, stdout, stderr } = await run(t, ["export", "things", ...flags], { cwd });
    assert.equal(exitCode, 0, stderr);
    const csv = from === "--format csv" ? stdout : await readFile(join(cwd, "out.csv"), "utf8");
    assert.equal(csv, table);
    const other = ["--store", "sqlite:other.db"];
    const args = ["import", "things", "-", "--format", "csv", ...other];
    assert.equal((await run(t, args, { cwd, input: csv })).exitCode, 0);
    assert.equal((await run(t, ["export", "things", ...other], { cwd })).stdout, `${lines.join("\n")}\n`);
  });
}

test("an attribute that only the last of many resources has is a column, and nothing is missing", async (t) => {
  const many = Array.from({ length: 5_000 }, (_, n) => JSON.stringify({ id: `n${10_000 + n}`, n }));
  const cwd = makeFolder({ things: `${many.join("\n")}\n{"id":"z","last":true}` });
  await run(t, ["import", "things", "things"], { cwd });
  const { stdout } = await run(t, ["export", "things", "--format", "csv"], { cwd });
  const rows = stdout.split("\r\n");
  assert.equal(rows.length, 5_003);
  assert.deepEqual([rows[0], rows[1], rows[5_001]], ["id,n,last", "n10000,0,", "z,,true"]);
});

test("a name that ends in .csv is NDJSON when --format says so, and an empty collection is a header", async (t) => {
  const cwd = makeFolder({ things: '{"id":"a"}', ...configuration({ things: {}, others: {} }) });
  await run(t, ["import", "things", "things"], { cwd });
  await run(t, ["export", "things", "--output", "out.csv", "--format", "ndjson"], { cwd });
  assert.equal(await readFile(join(cwd, "out.csv"), "utf8"), '{"id":"a"}\n');
  assert.equal((await run(t, ["export", "others", "--format", "csv"], { cwd })).stdout, "id\r\n");
});

test("a reader that has seen enough of the CSV ends the export quietly", async (t) => {
  const many = Array.from({ length: 30_000 }, (_, n) => JSON.stringify({ n, text: "x".repeat(50) }));
  const cwd = makeFolder({ things: many.join("\n") });
  await run(t, ["import", "things", "things"], { cwd });
  const exporting = start(t, ["export", "things", "--format", "csv"], { cwd });
  exporting.process.stdout?.once("data", () => exporting.process.stdout?.destroy());
  const { exitCode, stderr } = await exporting.ended;
  assert.deepEqual([exitCode, stderr], [0, ""]);
});

for (const [option, delimiter] of [
  [";", ";"],
  ["tab", "\t"],
] as const)
  test(`a file with a byte order mark and "${option}" between its cells gives the same resources again`, async (t) => {
    const cwd = makeFolder({ things: lines.join("\n"), ...configuration({ things }) });
    await run(t, ["import", "things", "things"], { cwd });
    const form = ["--bom", "--delimiter", option];
    const { exitCode, stderr } = await run(t, ["export", "things", "-o", "out.csv", ...form], { cwd });
    assert.equal(exitCode, 0, stderr);
    const csv = await readFile(join(cwd, "out.csv"), "utf8");
    assert.equal(csv.split("\r\n")[0], ["\uFEFFid", "n", "note", "tags", "price"].join(delimiter));
    const other = ["--store", "sqlite:other.db"];
    const args = ["import", "things", "out.csv", "--delimiter", option, ...other];
    assert.equal((await run(t, args, { cwd })).exitCode, 0);
    assert.equal((await run(t, ["export", "things", ...other], { cwd })).stdout, `${lines.join("\n")}\n`);
  });

test("the options of CSV are refused with NDJSON, and an unknown delimiter with the possible ones", async (t) => {
  const cwd = makeFolder({ things: '{"id":"a"}' });
  for (const [options, says] of [
    [
      ["--bom"],
      /^holdfast: --bom is for CSV: add --format csv, or write to a file whose name ends in \.csv\.$/m,
    ],
    [["--delimiter", ";", "-o", "out.ndjson"], /^holdfast: --delimiter is for CSV: add --format csv/m],
    [
      ["--format", "csv", "--delimiter", ":"],
      /^holdfast: --delimiter must be ",", ";", "\|" or tab, not ":"\.$/m,
    ],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(t, ["export", "things", ...options], { cwd });
    assert.notEqual(exitCode, 0);
    assert.equal(stdout, "");
    assert.match(stderr, says);
  }
});
