import assert from "node:assert/strict";
import { test } from "node:test";
import { run, serve, stop } from "./cli.ts";
import { declare, schema, withStore, withUnique } from "./unique-fixture.ts";

test("values that differ only in case are found once ignoreCase is declared", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, { users: { schema, unique: ["email"] } });
  await stop(await serve(t, [], { cwd }));
  await declare(cwd, withUnique);
  const { exitCode, stderr } = await run(t, ["import", "users", "-"], { cwd, input: '{"id":"e"}\n' });
  assert.equal(exitCode, 1);
  assert.match(stderr, /one resource repeats the value of another .*first "c"/);
});
