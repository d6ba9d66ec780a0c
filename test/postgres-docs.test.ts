/** The numbers and names in the pages on PostgreSQL are right. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { problems } from "../src/errors.ts";
import { slowPlaces } from "../src/store/core/slow-reads.ts";

const guide = readFileSync("docs/how-to/postgres.md", "utf8");
const durability = readFileSync("docs/explanation/durability.md", "utf8");

test("the guide says how many connections an instance opens", () => {
  const source = readFileSync("src/store/postgres/open-store.ts", "utf8");
  const [, quick, long] = /main: (\d+), slow: slowPlaces, long: (\d+)/.exec(source) ?? [];
  const slow = slowPlaces;
  for (const row of [`| ${quick} | reads and writes |`, `| ${slow} | lists `, `| ${long} | long work`])
    assert.ok(guide.includes(row), row);
  const sum = Number(quick) + Number(slow) + Number(long);
  assert.ok(guide.includes(`at least ${sum} for each thread of each instance`));
});

test("each error code in the pages on PostgreSQL stands with its status", () => {
  const named = [...`${guide}\n${durability}`.matchAll(/\b(\d{3}) `([A-Z_]+)`/g)];
  assert.ok(named.length > 5);
  for (const [text, status, code] of named)
    assert.equal(Number(status), problems[code as keyof typeof problems]?.status, text);
});

test("the store uses nothing that the guide says it does without", () => {
  const files = readdirSync("src/store/postgres", { recursive: true, encoding: "utf8" });
  const sources = files
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(`src/store/postgres/${file}`, "utf8"))
    .join("\n");
  const sql = sources.replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
  assert.doesNotMatch(
    sql,
    /advisory_(?!xact_)|create (or replace )?(function|trigger|extension)|\b(un)?listen |\bnotify |pg_notify/i,
  );
  assert.doesNotMatch(sql, /[`";]\s*set (?!local\b)[a-z_]+ (=|to)/i);
});
