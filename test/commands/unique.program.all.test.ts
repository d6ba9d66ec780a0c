import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run, serveHere } from "./cli.ts";
import { declare, users, withStore, withUnique } from "./unique-fixture.ts";

test("a unique attribute that values collide in is told by check, and keeps the service from starting", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, withUnique);
  const checked = await run(t, ["check"], { cwd });
  assert.equal(checked.exitCode, 1);
  assert.match(checked.stdout, /^users: 1 resource repeats the value of another in a unique attribute$/m);
  assert.match(checked.stdout, /^ {2}"c": "email" repeats the value of "a"$/m);
  const complaint =
    'holdfast: In users, one resource repeats the value of another in an attribute that is now unique (first "c": "email" repeats the value of "a"). List them with "npx holdfast check"';
  for (const [args, advice] of [
    [["serve"], ", or start the service anyway with --accept.\n"],
    [
      ["import", "users", "users.ndjson"],
      '. To keep them, start the service once with "npx holdfast serve --accept", stop it, and import again.\n',
    ],
  ] as const) {
    const refused = await run(t, args, { cwd });
    assert.equal(refused.exitCode, 1);
    assert.equal(refused.stderr, complaint + advice);
  }
});

test("after a start with --accept, an import works", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, withUnique);
  await writeFile(join(cwd, "more.ndjson"), '{"id":"e","email":"e"}\n');
  assert.equal((await run(t, ["import", "users", "more.ndjson"], { cwd })).exitCode, 1);
  await (await serveHere(t, { accept: true }, { cwd })).stop();
  const { exitCode, stderr } = await run(t, ["import", "users", "more.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
});

test("--accept starts all the same: what collides stays, and a write must make it fit", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, withUnique);
  const service = await serveHere(t, { accept: true }, { cwd });
  const send = (path: string, method: string, body: object) =>
    fetch(`${service.base}${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  assert.equal((await fetch(`${service.base}/users/c`)).status, 200);
  assert.equal((await send("/users/c", "PATCH", { n: 1 })).status, 409);
  assert.equal((await send("/users/c", "PATCH", { email: "z" })).status, 200);
  assert.equal((await send("/users", "POST", { email: "Z" })).status, 409);
  await service.stop();
  assert.equal((await run(t, ["check"], { cwd })).exitCode, 0);
});

test("an import is held to unique attributes, and names the lines", async (t) => {
  const cwd = makeFolder({ "users.ndjson": users, ...configuration(withUnique) });
  const { exitCode, stderr } = await run(t, ["import", "users", "users.ndjson"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /line 3: "email" repeats the value of another resource/);
  const skipped = await run(t, ["import", "users", "users.ndjson", "--skip-invalid"], { cwd });
  assert.equal(skipped.exitCode, 0, skipped.stderr);
  assert.match(skipped.stdout, /^3 resources imported/m);
});
