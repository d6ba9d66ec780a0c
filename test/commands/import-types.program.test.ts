/** `holdfast import` of CSV: the types of columns, conversions, and the report about both. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { startService } from "../http/service.ts";
import { run } from "./cli.ts";

const people = `id,age,zip,member,price,at
a,5,00123,t,"1,5",2026-01-02 03:04:05.123456+00
b,,1234,no,"2,50",2026-01-02T03:04:05Z
`;

const asked = ["--types", "infer", "--convert", "booleans,numbers,times"];

const columns = `  id      text
  age     number
  zip     text; 1 number, 1 text; line 2 has "00123"
  member  boolean; 2 converted
  price   number; 2 converted
  at      date; 2 converted, 1 of them cut to milliseconds
`;

const notes = `member: 2 converted
price: 2 converted
at: 2 converted, 1 of them cut to milliseconds
`;

const resources = [
  { id: "a", age: 5, zip: "00123", member: true, price: 1.5, at: "2026-01-02T03:04:05.123Z" },
  { id: "b", zip: "1234", member: false, price: 2.5, at: "2026-01-02T03:04:05.000Z" },
];

async function import_(t: TestContext, cwd: string, more: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(t, ["import", "people", "people.csv", ...more], { cwd });
  assert.equal(exitCode, 0, stderr);
  return stdout;
}

test("a dry run describes the columns and makes no store, and the import does what it says", async (t) => {
  const cwd = makeFolder({ "people.csv": people });
  const dry = await import_(t, cwd, [...asked, "--dry-run"]);
  assert.ok(dry.startsWith(`${columns}2 resources would be imported into people in `), dry);
  assert.deepEqual(readdirSync(cwd), ["people.csv"]);
  const stdout = await import_(t, cwd, asked);
  assert.ok(stdout.startsWith(`${notes}2 resources imported into people in `), stdout);
  const exported = await run(t, ["export", "people"], { cwd });
  assert.equal(exported.stdout, resources.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const again = await run(t, ["import", "people", "people.csv", ...asked, "--dry-run"], { cwd });
  assert.equal(again.exitCode, 1);
  assert.match(again.stderr, /line 2: "id" is "a", which already exists/);
});

test("an import into a running service reports the same", async (t) => {
  const service = await startService({ openCollections: true });
  t.after(() => service.stop());
  const cwd = makeFolder({ "people.csv": people });
  const to = ["--to", service.origin];
  const dry = await import_(t, cwd, [...asked, ...to, "--dry-run"]);
  assert.ok(dry.startsWith(`${columns}2 resources would be imported into people in `), dry);
  const stdout = await import_(t, cwd, [...asked, ...to]);
  assert.ok(stdout.startsWith(`${notes}2 resources imported into people in `), stdout);
  assert.deepEqual((await service.send({ path: "/api/v1/people?sort=id" })).json, resources);
});

test("an import of texts says which columns would have other types", async (t) => {
  const cwd = makeFolder({ "people.csv": "age,zip\n5,00123\n" });
  assert.match(
    await import_(t, cwd, []),
    /^every cell is stored as a text, also those of age\. --types infer makes numbers and booleans of them\n/,
  );
  const { stderr } = await run(t, ["import", "people", "people.csv", "--types", "infer"], { cwd });
  assert.match(
    stderr,
    /^holdfast: The column "age" has numbers, but people\/[\w-]+ has "5" in this attribute\. Give the attribute one type: /,
  );
});

test("a dry run finds references that lead nowhere, and leaves a store as it is", async (t) => {
  const cwd = makeFolder({
    "holdfast.config.json": JSON.stringify({ collections: { people: { references: { boss: "people" } } } }),
    "people.csv": "id,boss\na,a\n",
    "lost.csv": "id,boss\nb,nobody\n",
  });
  await import_(t, cwd, []);
  const { exitCode, stderr } = await run(t, ["import", "people", "lost.csv", "--dry-run"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /nobody/);
  assert.equal((await run(t, ["export", "people"], { cwd })).stdout, '{"id":"a","boss":"a"}\n');
});

test("options of columns are for CSV, and a dry run is for one collection", async (t) => {
  const cwd = makeFolder({ "a.ndjson": "", "db.json": "{}" });
  for (const [args, says] of [
    [["a", "a.ndjson", "--types", "infer"], /--types is for CSV: add --format csv\./],
    [["a", "a.csv", "--types", "guess"], /--types must be text or infer\./],
    [["a", "a.csv", "--convert", "all"], /--convert must be some of booleans, numbers, times, arrays, nulls/],
    [["a", "a.csv", "--timezone", "UTC"], /--timezone applies only to the conversion of times\./],
    [["db.json", "--dry-run"], /--dry-run is for one collection/],
    [["db.json", "--types", "infer"], /name a collection/],
  ] as const) {
    const { exitCode, stderr } = await run(t, ["import", ...args], { cwd });
    assert.equal(exitCode, 1);
    assert.match(stderr, says);
  }
});
