import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadConfig } from "../../src/config.ts";

async function historyOf(t: TestContext, content: object) {
  const cwd = await mkdtemp(join(tmpdir(), "holdfast-config-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify(content));
  return (await loadConfig({ flags: {}, env: {}, cwd })).history;
}

test("how long changes are kept is up to three numbers, forever, or not at all", async (t) => {
  const both = { keepDays: 30, keepChanges: 1_000_000 };
  assert.deepEqual(await historyOf(t, {}), both);
  assert.deepEqual(await historyOf(t, { history: { keepDays: 7 } }), { keepDays: 7, keepChanges: 0 });
  assert.deepEqual(await historyOf(t, { history: { keepChanges: 5 } }), { keepDays: 0, keepChanges: 5 });
  const bytes = { keepBytes: 1_000 };
  const unbounded = { keepDays: Number.POSITIVE_INFINITY, keepChanges: 0, ...bytes };
  assert.deepEqual(await historyOf(t, { history: bytes }), unbounded);
  assert.deepEqual(await historyOf(t, { history: { keepDays: 7, ...bytes } }), {
    keepDays: 7,
    keepChanges: 0,
    ...bytes,
  });
  for (const word of ["forever", "none"]) assert.equal(await historyOf(t, { history: word }), word);
  assert.equal(await historyOf(t, { history: { keep: "forever", showPrincipal: true } }), "forever");
  assert.deepEqual(await historyOf(t, { history: { showPrincipal: true } }), both);
});

test("a history that is none of these keeps the program from starting", async (t) => {
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
    await assert.rejects(
      historyOf(t, { history }),
      /history must be "forever", "none", or an object such as/,
    );
});
