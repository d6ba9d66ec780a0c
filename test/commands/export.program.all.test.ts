import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { link, readdir, readFile, stat, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { run } from "./cli.ts";

const numbered = (n: number) =>
  Array.from({ length: n }, (_, index) => `{"id":"${String(index).padStart(6, "0")}","n":${index}}\n`).join(
    "",
  );

test("an export has every resource on a line of its own, in id order, and nothing else on stdout", async (t) => {
  const text = numbered(3_000);
  const cwd = makeFolder({ things: text });
  await run(t, ["import", "things", "things"], { cwd });
  const { exitCode, stdout } = await run(t, ["export", "things"], { cwd });
  assert.equal(exitCode, 0);
  assert.equal(stdout, text);
});

test("--output writes a file that appears when it is whole", async (t) => {
  const text = numbered(10);
  const cwd = makeFolder({ things: text });
  await run(t, ["import", "things", "things"], { cwd });
  const { exitCode, stdout, stderr } = await run(t, ["export", "things", "--output", "out.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /^10 resources of things exported to out\.ndjson in \d+\.\d s \(\d+ bytes\)\n$/);
  assert.equal(await readFile(join(cwd, "out.ndjson"), "utf8"), text);
  assert.deepEqual(
    (await readdir(cwd)).filter((name) => name.includes("unfinished")),
    [],
  );
});

test("a collection that nobody knows is one line with the nearest name", async (t) => {
  const cwd = makeFolder({ things: "{}" });
  await run(t, ["import", "things", "things"], { cwd });
  const { exitCode, stdout, stderr } = await run(t, ["export", "thngs"], { cwd });
  assert.equal(exitCode, 1);
  assert.equal(stdout, "");
  assert.equal(stderr, 'holdfast: The collection "thngs" does not exist. Did you mean "things"?\n');
});

test("an export of a store that is not there is one line, and makes none", async (t) => {
  const cwd = makeFolder();
  const { exitCode, stdout, stderr } = await run(t, ["export", "things"], { cwd });
  assert.equal(exitCode, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /^holdfast: [^\n]*holdfast\.db[^\n]*\n$/);
  assert.deepEqual(await readdir(cwd), []);
});

const ownFiles = ["", "-wal", "-shm", ".lock"].map((ending) => `holdfast.db${ending}`);

for (const output of [
  ...ownFiles,
  "./holdfast.db",
  "around/holdfast.db",
  "around/holdfast.db-wal",
  "hard",
  "soft",
]) {
  test(`an export to ${output} is refused: it is a file of the store`, async (t) => {
    const cwd = makeFolder({ things: '{"id":"a"}' });
    await run(t, ["import", "things", "things"], { cwd });
    await symlink(".", join(cwd, "around"));
    await symlink("holdfast.db", join(cwd, "soft"));
    await link(join(cwd, "holdfast.db"), join(cwd, "hard"));
    const { exitCode, stderr } = await run(t, ["export", "things", "--output", output], { cwd });
    assert.equal(exitCode, 1);
    assert.equal(
      stderr,
      `holdfast: ${output} is a file of the store itself. To copy a store, run npx holdfast copy.\n`,
    );
    assert.equal((await run(t, ["export", "things"], { cwd })).stdout, '{"id":"a"}\n');
  });
}

test("an export by the name of a store behind a link is refused too", async (t) => {
  const cwd = makeFolder({ things: '{"id":"a"}' });
  await run(t, ["import", "things", "things"], { cwd });
  await symlink("holdfast.db", join(cwd, "shop.db"));
  const store = ["--store", "shop.db"];
  for (const output of ["holdfast.db-wal", "holdfast.db", "shop.db"]) {
    const { stderr } = await run(t, ["export", "things", ...store, "-o", output], { cwd });
    assert.match(stderr, /is a file of the store itself/, output);
  }
  assert.equal((await run(t, ["export", "things", ...store], { cwd })).stdout, '{"id":"a"}\n');
});

// A link to the device: it is all that would be lost, should this ever fail.
for (const output of ["device", "pipe"]) {
  test(`an export to ${output} is refused: a file would take its place`, async (t) => {
    const cwd = makeFolder({ things: "{}" });
    await run(t, ["import", "things", "things"], { cwd });
    assert.equal(spawnSync("mkfifo", ["pipe"], { cwd }).status, 0);
    await symlink("/dev/null", join(cwd, "device"));
    const { exitCode, stderr } = await run(t, ["export", "things", "--output", output], { cwd });
    assert.equal(exitCode, 1);
    assert.equal(
      stderr,
      `holdfast: ${output} is not a regular file. Without --output, the export goes to standard output.\n`,
    );
    assert.ok(!(await stat(resolve(cwd, output))).isFile(), "it is what it was");
  });
}
