/**
 * Stores in which the disk has changed one bit. Each bit is changed in a copy of its own. `holdfast check` names what a service cannot
 * serve as it was written.
 */
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { StartError } from "../../src/errors.ts";
import { makeFolder } from "../folder.ts";
import { generator } from "../seed.ts";
import { checkFile, serveFile, writeWholeFile } from "../store/whole-file.ts";

const bits = Number(process.env.HOLDFAST_TEST_BITS ?? 25);

/** The tables with one row for each store, collection or key. A bit that is chosen among all bytes seldom changes one of them. */
const smallTables = ["meta", "collections", "heads", "keys"];

test("a check names each store that a service cannot serve rightly, and never ends with a stack", async (t) => {
  const folder = makeFolder();
  const whole = join(folder, "whole.db");
  await writeWholeFile(whole);
  const bytes = readFileSync(whole);
  const path = join(folder, "damaged.db");
  const removed = () => {
    for (const ending of ["", "-wal", "-shm", ".lock"]) rmSync(path + ending, { force: true });
  };
  writeFileSync(path, bytes);
  const expected = await serveFile(path);
  removed();
  const pages = pagesOf(whole);
  const random = generator();
  const outcomes = new Map<string, number>();
  const missed: string[] = [];
  for (let n = 0; n < bits; n++) {
    const page = n % 2 === 0 ? undefined : pages[Math.floor(random() * pages.length)];
    const { from, to } = page ?? { from: 0, to: bytes.length };
    let place = 0;
    do place = from + Math.floor(random() * (to - from));
    while (bytes[place] === 0); // a zero is probably free space
    const bit = Math.floor(random() * 8);
    const damaged = Buffer.from(bytes);
    damaged[place] = (damaged[place] as number) ^ (1 << bit);
    writeFileSync(path, damaged);
    const where = `bit ${bit} of the byte ${place}`;
    const { found, error } = await checkFile(path);
    if (error !== undefined && !(error instanceof StartError))
      throw new Error(`${where}: the check ends with a stack`, { cause: error });
    const isNamed = found.length > 0 || error !== undefined;
    const served = await serveFile(path);
    const isServed = isDeepStrictEqual(served, expected);
    const differing = Object.keys(expected).filter(
      (name) => !isDeepStrictEqual(served[name], expected[name]),
    );
    if (!isServed && !isNamed) missed.push(`${where}: ${differing.join(", ")}`);
    const outcome = `${isServed ? "served" : "not served"}, ${isNamed ? "named" : "not named"}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    removed();
  }
  assert.deepEqual(missed, []);
  t.diagnostic(JSON.stringify([...outcomes]));
});

/** Where the pages of the small tables are in a file. */
function pagesOf(path: string): { from: number; to: number }[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const pages = database
    .prepare(
      `select pgoffset as "from", pgoffset + pgsize as "to" from dbstat
       where name in (${smallTables.map((name) => `'${name}'`).join(", ")})`,
    )
    .all();
  database.close();
  return pages as unknown as { from: number; to: number }[];
}
