/** SQLite files in which the disk has made integers that no JavaScript number holds. `node:sqlite` throws if it reads one. */
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { StartError } from "../../src/errors.ts";
import { makeFolder } from "../folder.ts";
import { checkFile, serveFile, writeWholeFile } from "./whole-file.ts";

const wide = 2n ** 60n + 1n;

/** The columns by which other rows find a row. Without it, they lack each other. */
const identities = ["number", "key", "id", "sequence", "slot", "row"];

interface Column {
  table: string;
  column: string;
}

/** All columns of a file that can have integers, except those of the other collections and of the search words. */
function integerColumns(path: string): Column[] {
  const database = new DatabaseSync(path);
  const columns = database
    .prepare(
      `select tables.name as "table", columns.name as "column" from sqlite_schema as tables
       join pragma_table_info(tables.name) as columns
       where tables.type = 'table' and tables.name not glob '*_[23]*' and tables.name not glob 'search_*'
         and tables.name not glob 'sqlite_*' and upper(columns.type) in ('INTEGER', 'ANY')`,
    )
    .all();
  database.close();
  return columns as unknown as Column[];
}

/** A copy of a file with a wide integer in each of these columns, each in another row if there are so many. */
function widened(whole: string, columns: readonly Column[]): string {
  const path = join(makeFolder(), "damaged.db");
  copyFileSync(whole, path);
  const database = new DatabaseSync(path);
  for (const [n, { table, column }] of columns.entries()) {
    const keys = database
      .prepare("select name from pragma_table_info(?) where pk > 0 order by pk")
      .all(table)
      .map(({ name }) => `"${name}"`)
      .join(", ");
    const rows = Number(database.prepare(`select count(*) as count from ${table}`).get()?.count);
    database
      .prepare(
        `update ${table} set "${column}" = ? where (${keys}) in
          (select ${keys} from ${table} order by "${column}" is null, ${keys} limit 1 offset ?)`,
      )
      .run(wide, n % rows);
  }
  database.close();
  return path;
}

/** Groups of columns that can be damaged together without hiding each other. */
function groupsOf(columns: readonly Column[]): Column[][] {
  const isIdentity = ({ column }: Column) => identities.includes(column);
  const alone = columns.filter(isIdentity).map((each) => [each]);
  const others = columns.filter((each) => !isIdentity(each));
  return [...alone, ...Map.groupBy(others, ({ table }) => table).values()];
}

test("a check names the table and the column of each integer that no number holds, and goes on", async () => {
  const whole = join(makeFolder(), "whole.db");
  await writeWholeFile(whole);
  assert.deepEqual(await checkFile(whole), { found: [] });
  const columns = integerColumns(whole);
  assert.ok(columns.length >= 40, `${columns.length} columns`);
  for (const group of groupsOf(columns)) {
    const { found, error } = await checkFile(widened(whole, group));
    const said = found.join("\n");
    assert.equal(error, undefined, `${JSON.stringify(group)}: ${said}`);
    for (const { table, column } of group) {
      const where = found.filter((text) => text.includes(`table ${table}`));
      assert.ok(where.length > 0, `the table ${table} in ${said}`);
      const isNamed = identities.includes(column) || /^v\d$|^value$/.test(column);
      assert.ok(isNamed || where.some((text) => text.includes(column)), `${table}.${column} in ${said}`);
    }
  }
});

test("a service that reads an integer that no number holds answers DATA_DAMAGED, or does not start", async () => {
  const whole = join(makeFolder(), "whole.db");
  await writeWholeFile(whole);
  const answers: string[] = [];
  for (const group of groupsOf(integerColumns(whole))) {
    const served = await serveFile(widened(whole, group));
    for (const [name, answer] of Object.entries(served))
      if (typeof answer === "string" && name !== "secret")
        answers.push(`${JSON.stringify(group)}, ${name}: ${answer}`);
  }
  assert.deepEqual(
    answers.filter((text) => !/: (?:Problem|StartError): /.test(text)),
    [],
  );
  assert.ok(answers.some((text) => /The counters of the collection \w+ are damaged/.test(text)));
  assert.ok(answers.some((text) => /A number in the store is damaged/.test(text)));
});

test("a start and a check of a file whose format is no number say so", async () => {
  const whole = join(makeFolder(), "whole.db");
  await writeWholeFile(whole);
  const database = new DatabaseSync(whole);
  database.prepare("update meta set value = ? where name = 'format'").run(wide);
  database.close();
  const { error } = await checkFile(whole);
  assert.ok(error instanceof StartError);
  assert.match(error.message, /is damaged \(it has no format number\)/);
  assert.match(String((await serveFile(whole)).open), /is damaged \(it has no format number\)/);
});
