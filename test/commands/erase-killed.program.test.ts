import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { run, start } from "./cli.ts";

const line = '{"id":"a","name":"Xanthippe"}\n{"id":"b","name":"Sokrates"}\n';

/** The files of a folder that contain a text anywhere, in rows or in unused space. */
const filesWith = (cwd: string, text: string) =>
  readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.db/.test(entry.name))
    .filter(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1").includes(text))
    .map(({ name }) => name);

const finishedLine =
  'removed what an interrupted erase of the resource "a" of people had left in the files of the store\n';

test("an erase that is killed while it rewrites the file leaves nothing after the next one", async (t) => {
  const cwd = makeFolder({ people: line });
  await run(t, ["import", "people", "people"], { cwd });
  const path = join(cwd, "holdfast.db");
  const reader = new DatabaseSync(path, { readOnly: true }); // while it reads, the erase cannot end
  reader.exec("begin; select * from meta");
  const erase = start(t, ["erase", "people", "a"], { cwd });
  await until("the resource is erased", () => {
    const fresh = new DatabaseSync(path, { readOnly: true });
    const isGone = fresh.prepare("select 1 from resources_1 where id = 'a'").get() === undefined;
    fresh.close();
    return isGone;
  });
  erase.process.kill("SIGKILL");
  await erase.ended;
  reader.close();
  const { exitCode, stderr } = await run(t, ["erase", "people", "a"], { cwd });
  assert.deepEqual([exitCode, stderr], [0, finishedLine]);
  assert.deepEqual(filesWith(cwd, "Xanthippe"), []);
});
