import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";
import { until } from "../until.ts";
import { configuration, jsonLines, run, serve, serveHere, start, stop } from "./cli.ts";

const database = JSON.stringify({
  users: [{ id: "ada", name: "Ada" }],
  posts: [
    { id: "1", title: "Hello", authorId: "ada" },
    { id: "2", title: "Again", authorId: "ada" },
  ],
});

const many = (n: number) =>
  JSON.stringify({
    users: [{ id: "ada", name: "Ada" }],
    posts: Array.from({ length: n }, (_, id) => ({ id: String(id), title: `post ${id}`, authorId: "ada" })),
  });

/** The flags for an empty store in the folder, or for an empty database. */
const stores: Readonly<Record<string, (t: TestContext) => Promise<string[]>>> = {
  SQLite: async () => [],
  PostgreSQL: async (t) => {
    const url = await databaseFor(t);
    return ["--store", url];
  },
};

async function idsOf(
  t: TestContext,
  collection: string,
  cwd: string,
  flags: readonly string[],
): Promise<unknown[]> {
  const { stdout } = await run(t, ["export", collection, ...flags], { cwd });
  return jsonLines(stdout).map((each) => (each as { id: unknown }).id);
}

for (const [name, storeOf] of Object.entries(stores)) {
  test(`${name}: an empty store is filled once, with the ids of the file`, async (t) => {
    const cwd = makeFolder({ "db.json": database });
    const flags = await storeOf(t);
    const first = await run(t, ["seed", "db.json", ...flags], { cwd });
    assert.equal(first.exitCode, 0, first.stderr);
    assert.match(
      first.stdout,
      /^1 resource imported into users\n2 resources imported into posts\n3 resources in 2 collections in /,
    );
    for (const times of [1, 2]) {
      const again = await run(t, ["seed", "db.json", ...flags], { cwd });
      assert.equal(again.exitCode, 0, `${times}: ${again.stderr}`);
      assert.match(
        again.stdout,
        /^Nothing was imported: \S+ is not empty \((?:users, posts|posts, users)\)\.\n$/,
      );
      assert.equal(again.stderr, "");
    }
    assert.deepEqual(await idsOf(t, "posts", cwd, flags), ["1", "2"]);
  });

  test(`${name}: collections that are declared and empty are filled, and API keys do not count`, async (t) => {
    const settings = configuration({ users: {}, posts: { references: { authorId: "users" } } });
    const cwd = makeFolder({ "db.json": database, ...settings });
    const flags = await storeOf(t);
    await (await serveHere(t, { store: flags[1] }, { cwd })).stop();
    assert.equal((await run(t, ["keys", "create", "--name", "ada", ...flags], { cwd })).exitCode, 0);
    const { exitCode, stderr } = await run(t, ["seed", "db.json", ...flags], { cwd });
    assert.equal(exitCode, 0, stderr);
    assert.deepEqual(await idsOf(t, "posts", cwd, flags), ["1", "2"]);
  });

  test(`${name}: what was deleted does not come back`, async (t) => {
    const cwd = makeFolder({ "db.json": '{"posts":[{"id":"1"}]}' });
    const flags = await storeOf(t);
    await run(t, ["seed", "db.json", ...flags], { cwd });
    const service = await serveHere(t, { store: flags[1] }, { cwd });
    assert.equal((await fetch(`${service.base}/posts/1`, { method: "DELETE" })).status, 205);
    await service.stop();
    const { exitCode, stdout } = await run(t, ["seed", "db.json", ...flags], { cwd });
    assert.equal(exitCode, 0);
    assert.match(stdout, /^Nothing was imported: .+ \(posts\)\.\n$/);
    assert.deepEqual(await idsOf(t, "posts", cwd, flags), []);
  });

  test(`${name}: a seed that is killed leaves all or nothing, and the next one makes it whole`, async (t) => {
    const cwd = makeFolder({ "db.json": many(20_000) });
    const flags = await storeOf(t);
    const killed = start(t, ["seed", "db.json", ...flags], { cwd });
    if (flags.length === 0) await until("it writes", () => existsSync(join(cwd, "holdfast.db-wal")));
    killed.process.kill("SIGKILL");
    await killed.ended;
    const { exitCode, stderr } = await run(t, ["seed", "db.json", ...flags], { cwd });
    assert.equal(exitCode, 0, stderr);
    assert.equal((await idsOf(t, "posts", cwd, flags)).length, 20_000);
  });
}

test("PostgreSQL: of several seeds at once one fills the store, and the others find it filled", async (t) => {
  const cwd = makeFolder({ "db.json": many(2_000) });
  const flags = await (stores.PostgreSQL as (typeof stores)[string])(t);
  const outcomes = await Promise.all([1, 2, 3].map(() => run(t, ["seed", "db.json", ...flags], { cwd })));
  for (const { exitCode, stderr } of outcomes) assert.equal(exitCode, 0, stderr);
  const filled = outcomes.filter(({ stdout }) => /^2,001 resources in 2 collections/m.test(stdout));
  assert.equal(filled.length, 1, JSON.stringify(outcomes));
  assert.equal((await idsOf(t, "posts", cwd, flags)).length, 2_000);
});

test("SQLite: of several seeds at once one fills the store, and none changes it afterwards", async (t) => {
  const cwd = makeFolder({ "db.json": many(2_000) });
  const outcomes = await Promise.all([1, 2, 3].map(() => run(t, ["seed", "db.json"], { cwd })));
  for (const { exitCode, stderr } of outcomes)
    if (exitCode !== 0) assert.match(stderr, /^holdfast: \S+ is in use by another Holdfast .+\n$/);
  assert.equal(
    outcomes.filter(({ stdout }) => /^2,001 resources/m.test(stdout)).length,
    1,
    JSON.stringify(outcomes),
  );
  assert.equal((await idsOf(t, "posts", cwd, [])).length, 2_000);
});

test("while a service has the store open, a filled store is left alone and an empty one is not touched", async (t) => {
  const cwd = makeFolder({ "db.json": database });
  const service = await serve(t, [], { cwd });
  const refused = await run(t, ["seed", "db.json"], { cwd });
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /^holdfast: \S+ is in use by another Holdfast/);
  await stop(service);
  await run(t, ["seed", "db.json"], { cwd });
  await serve(t, [], { cwd });
  const { exitCode, stdout } = await run(t, ["seed", "db.json"], { cwd });
  assert.equal(exitCode, 0);
  assert.match(stdout, /^Nothing was imported/);
});

test("a file that is missing is one line, also where the store is empty", async (t) => {
  const { exitCode, stderr } = await run(t, ["seed", "db.json"], { cwd: makeFolder() });
  assert.equal(exitCode, 1);
  assert.equal(stderr, "holdfast: db.json cannot be read: it does not exist.\n");
});

test("a file that a killed process has left empty is filled", async (t) => {
  const cwd = makeFolder({ "db.json": database, "holdfast.db": "" });
  const { exitCode, stderr } = await run(t, ["seed", "db.json"], { cwd });
  assert.equal(exitCode, 0, stderr);
  const checked = await run(t, ["check", "--store", "sqlite:empty.db"], {
    cwd: makeFolder({ "empty.db": "" }),
  });
  assert.match(checked.stdout, /^store: \S+ does not exist yet$/m);
});
