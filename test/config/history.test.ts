import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { makeFolder } from "../folder.ts";

async function historyOf(content: object) {
  const cwd = makeFolder();
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify(content));
  return (await loadConfig({ flags: {}, env: {}, cwd })).history;
}

test("how long changes are kept is up to three numbers, forever, or not at all", async () => {
  const both = { keepDays: 30, keepChanges: 1_000_000 };
  assert.deepEqual(await historyOf({}), both);
  assert.deepEqual(await historyOf({ history: { keepDays: 7 } }), { keepDays: 7, keepChanges: 0 });
  assert.deepEqual(await historyOf({ history: { keepChanges: 5 } }), { keepDays: 0, keepChanges: 5 });
  const bytes = { keepBytes: 1_000 };
  const unbounded = { keepDays: Number.POSITIVE_INFINITY, keepChanges: 0, ...bytes };
  assert.deepEqual(await historyOf({ history: bytes }), unbounded);
  assert.deepEqual(await historyOf({ history: { keepDays: 7, ...bytes } }), {
    keepDays: 7,
    keepChanges: 0,
    ...bytes,
  });
  for (const word of ["forever", "none"]) assert.equal(await historyOf({ history: word }), word);
  assert.equal(await historyOf({ history: { keep: "forever", showPrincipal: true } }), "forever");
  assert.deepEqual(await historyOf({ history: { showPrincipal: true } }), both);
});

test("any other history keeps the program from starting", async () => {
  for (const history of [
    "always",
    {},
    { days: 3 },
    { keepDays: -1 },
    { keepDays: 1.5 },
    { keepBytes: -1 },
    { keepBytes: "1gb" },
    [],
    30,
    null,
    { keepDays: "30" },
    { keep: "none" },
    { keep: "forever", keepDays: 3 },
    { showPrincipal: "yes" },
  ])
    await assert.rejects(historyOf({ history }), /history must be "forever", "none", or an object such as/);
});
