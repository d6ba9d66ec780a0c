/** Both stores compute the keys of dates and exact numbers in SQL. Each key is equal to the one in memory, also for texts that are almost one. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";
import {
  comparedKeyOf,
  comparedValues,
  declaredTypes,
  type Meaning,
} from "../../src/collection/types/declared-types.ts";
import { quoteText } from "../../src/store/postgres/list/postgres-lists.ts";
import { addListFunctions, meaningSql as sqliteSql } from "../../src/store/sqlite/list/sqlite-lists.ts";
import { almostExact, nearExact } from "../exact-numbers.ts";
import { forms, picoseconds } from "../instants.ts";
import { openDatabase, query } from "../postgres/databases.ts";

const almost = fc.tuple(
  picoseconds,
  fc.nat(),
  fc.nat(),
  fc.constantFrom("", "0", "Z", ":", "9", "-", "\0", "é", "10", "60"),
);

/** Dates in all forms, and values that differ from one in a character or in their type. */
const values: readonly unknown[] = [
  ...fc.sample(almost, 2_000).flatMap(([at, choice, place, inserted]): unknown[] => {
    const date = forms(at, choice);
    if (typeof date === "number") return [date, date + 0.5, -date];
    const cut = place % (date.length + 1);
    const start = date.slice(0, cut) + inserted;
    return [date, start + date.slice(cut), start + date.slice(cut + 1)];
  }),
  ...[
    8.64e15,
    8.64e15 - 1,
    -8.64e15,
    8.64e15 + 1,
    1e21,
    1.5,
    true,
    null,
    [],
    {},
    "",
    "2000-02-29",
    "1900-02-29",
  ],
  ...fc.sample(nearExact, 1_000),
  ...almostExact,
  ...["0000-02-29", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999-23:59", "1900-02-29T00:00Z"],
];

const meanings = ["time", ...Object.keys(declaredTypes)] as readonly Meaning[];

test("SQLite computes the key of every instant and exact number", () => {
  const database = new DatabaseSync(":memory:");
  addListFunctions(database);
  for (const form of meanings) {
    const read = database.prepare(
      `select ${sqliteSql("json_type(doc)", "json_extract(doc, '$')", form)} as key from (select ? as doc)`,
    );
    for (const value of values) {
      const key = comparedKeyOf(value, form) ?? null;
      assert.equal(read.get(JSON.stringify(value))?.key, key, `${form}: ${JSON.stringify(value)}`);
    }
  }
  database.close();
});

test("PostgreSQL computes the key of every instant and exact number", async () => {
  const { url, release } = await openDatabase();
  // PostgreSQL stores no null characters.
  const known = values.filter((value) => typeof value !== "string" || !value.includes("\0"));
  const all = `json_array_elements(${quoteText(JSON.stringify(known))}::json) with ordinality as each(value, n)`;
  const value = ["json_typeof(value)", "(value #>> '{}')"] as const;
  for (const form of meanings) {
    const sql = `select ${comparedValues(form).postgresKey(...value)} as key from ${all} order by n`;
    const { rows } = await query(url, sql);
    for (const [n, value] of known.entries()) {
      const key = comparedKeyOf(value, form);
      assert.equal(rows[n].key, key ?? null, `${form}: ${JSON.stringify(value)}`);
      const owners = Object.values(declaredTypes).filter(({ isKey }) => key !== undefined && isKey(key));
      assert.equal(owners.length, Number(key !== undefined), `${form}: ${key}`);
    }
  }
  await release();
});
