import assert from "node:assert/strict";
import { test } from "node:test";
import { declare, withStore } from "./check-fixture.ts";
import { run } from "./cli.ts";

test("another kind of id than the store has is a misfit", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, { topics: { id: "integer" } });
  const { exitCode, stdout } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(
    stdout,
    /^topics: the configuration declares id "integer", but the ids in the store are "uuid"$/m,
  );
});
