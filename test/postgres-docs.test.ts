/** What the documents on PostgreSQL say in figures and names is so. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { problems } from "../src/errors.ts";

const guide = readFileSync("docs/how-to/postgres.md", "utf8");
const durability = readFileSync("docs/explanation/durability.md", "utf8");

test("the guide tells how many connections an instance opens", () => {
  const source = readFileSync("src/store/postgres/open-store.ts", "utf8");
  const [, quick, slow, long] = /connections: (\d+), slow: (\d+), long: (\d+)/.exec(source) ?? [];
  assert.ok(guide.includes(`opens ${quick} connections at most for reads and writes, ${slow} for lists`));
  assert.ok(guide.includes(`at least ${Number(quick) + Number(slow) + Number(long)} for each instance`));
});

test("problems have the status in the documents on PostgreSQL that they are answered with", () => {
  const named = [...`${guide}\n${durability}`.matchAll(/\b(\d{3}) `([A-Z_]+)`/g)];
  assert.ok(named.length > 5);
  for (const [text, status, code] of named)
    assert.equal(Number(status), problems[code as keyof typeof problems]?.status, text);
});

test("the store uses nothing that the guide says it does without", () => {
  const names = ["statements", "tables", "indexes", "page", "transaction", "migrate", "lists"];
  const sources = names.map((name) => readFileSync(`src/store/postgres/${name}.ts`, "utf8")).join("\n");
  const sql = sources.replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
  assert.doesNotMatch(
    sql,
    /advisory|create (or replace )?(function|trigger|extension)|\b(un)?listen |\bnotify |pg_notify/i,
  );
  assert.doesNotMatch(sql, /[`";]\s*set (?!local\b)[a-z_]+ (=|to)/i);
});
