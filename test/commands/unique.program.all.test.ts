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

test("lines without an id in a collection of integers are named too", async (t) => {
  const numbered = { users: { ...withUnique.users, id: "integer" } };
  const input = '{"email":"x"}\n{"id":7,"email":"x"}\n{"email":"y"}\n';
  const cwd = makeFolder({ "users.ndjson": input, ...configuration(numbered) });
  const { exitCode, stderr } = await run(t, ["import", "users", "users.ndjson"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /line 1: "email" repeats the value of another resource/);
});

const seat = {
  properties: {
    train: { type: "string", maxLength: 20 },
    seat: { type: "string", maxLength: 20 },
    status: { enum: ["open", "gone"] },
  },
};
const seats =
  '{"id":"a","train":"IC5","seat":"12A","status":"open"}\n{"id":"b","train":"IC5","seat":"12a","status":"gone"}\n' +
  '{"id":"c","train":"IC5","seat":"12a","status":"open"}\n{"id":"d","train":"IC5","status":"open"}\n';
const withSeats = (where: object) => ({
  seats: { schema: seat, unique: [{ attributes: ["train", "seat"], ignoreCase: true, where }] },
});

test("combinations that collide are told by check and keep the service from starting, only where the filter matches", async (t) => {
  const cwd = makeFolder({ "seats.ndjson": seats, ...configuration({ seats: { schema: seat } }) });
  assert.equal((await run(t, ["import", "seats", "seats.ndjson"], { cwd })).exitCode, 0);
  await declare(cwd, withSeats({ status: "gone" }));
  await (await serveHere(t, {}, { cwd })).stop();
  await declare(cwd, withSeats({ status: { ne: "gone" } }));
  const checked = await run(t, ["check"], { cwd });
  assert.equal(checked.exitCode, 1);
  assert.match(checked.stdout, /^seats: 1 resource repeats the value of another in a unique attribute$/m);
  assert.match(checked.stdout, /^ {2}"c": "train" repeats the value of "a", together with "seat"$/m);
  const refused = await run(t, ["serve"], { cwd });
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /one resource repeats the value of another .*first "c": "train" repeats/);
  await (await serveHere(t, { accept: true }, { cwd })).stop();
  const imported = await run(t, ["import", "seats", "-"], {
    cwd,
    input: '{"id":"e","train":"ic5","seat":"12A"}\n{"id":"f","train":"ic5","seat":"12A","status":"gone"}\n',
  });
  assert.equal(imported.exitCode, 1);
  assert.match(
    imported.stderr,
    /line 1: "train" repeats the value of another resource, together with "seat"; "seat" /,
  );
});
