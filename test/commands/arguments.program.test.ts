import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { run } from "./cli.ts";

const cases: [args: string[], advice: RegExp][] = [
  [["serve", "4000"], /With npm, write options after "--": npm start -- --port 4000/],
  [["serve", "db.json"], /To import data, run: npx holdfast import db\.json/],
];

for (const [args, advice] of cases)
  test(`holdfast ${args.join(" ")} says what to write`, async (t) => {
    const { exitCode, stderr } = await run(t, args, { cwd: makeFolder() });
    assert.equal(exitCode, 1);
    assert.match(stderr, advice);
    assert.equal(stderr.trim().split("\n").length, 1);
  });
