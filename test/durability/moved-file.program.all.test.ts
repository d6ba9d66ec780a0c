/** A store's file is taken away from its log, in which the last writes are, or is emptied. */
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { run } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { createClient, end, startProgram } from "./program.ts";

const ways: Record<string, (path: string) => void> = {
  "moved away": (path) => renameSync(path, `${path}.moved`),
  emptied: (path) => {
    copyFileSync(path, `${path}.moved`);
    truncateSync(path);
  },
};

for (const [what, takeAway] of Object.entries(ways))
  test(`no new store takes the place of a file that was ${what}: put back, the file has every write`, async (t) => {
    const folder = makeFolder();
    const path = join(folder, "x.db");
    const killed = await startProgram(path);
    const client = createClient(killed.port);
    for (const n of [1, 2, 3]) assert.equal((await client.send("POST", "/things", { n }))?.status, 201);
    await end(killed, "SIGKILL");
    client.close();

    takeAway(path);
    for (const attempt of ["first", "second"])
      await assert.rejects(
        openStore({ kind: "sqlite", path }).then((store) => store.close()),
        {
          name: "StartError",
          message: `${path} is missing or empty, but its log ${path}-wal has writes. Put the file back. If you do not need these writes, remove the log.`,
        },
        attempt,
      );

    renameSync(`${path}.moved`, path);
    const again = await startProgram(path);
    t.after(() => end(again, "SIGTERM"));
    const reader = createClient(again.port);
    t.after(() => reader.close());
    const list = await reader.send("GET", "/things?fields=n&sort=n");
    assert.deepEqual(
      (JSON.parse(list?.text ?? "") as { n: number }[]).map(({ n }) => n),
      [1, 2, 3],
    );
  });

for (const [what, takeAway] of Object.entries(ways))
  test(`no new store starts in the place of one that was stopped and then ${what}, until its lock file is removed`, async (t) => {
    const folder = makeFolder();
    const path = join(folder, "x.db");
    const first = await openStore({ kind: "sqlite", path });
    await first.close();
    assert.equal(
      (await run(t, ["backup", "y.db", "--store", `sqlite:${path}`], { cwd: folder })).exitCode,
      0,
    );

    writeFileSync(join(folder, "seed.json"), "{}");
    takeAway(path);
    for (const command of [["serve"], ["seed", "seed.json"], ["keys", "create", "--name", "a"]]) {
      const args = [...command, "--store", `sqlite:${path}`];
      const { exitCode, stderr } = await run(t, args, { cwd: folder });
      assert.deepEqual(
        [exitCode, stderr],
        [
          1,
          `holdfast: ${path} is missing or empty, but its lock file ${path}.lock shows that it was a store. Put the file back, or move it away and restore a backup with "npx holdfast restore". To begin with an empty store, remove the lock file.\n`,
        ],
        command.join(" "),
      );
    }

    rmSync(path, { force: true });
    assert.equal(
      (await run(t, ["restore", "y.db", "--store", `sqlite:${path}`], { cwd: folder })).exitCode,
      0,
    );
    const restored = await openStore({ kind: "sqlite", path });
    await restored.close();

    rmSync(path);
    rmSync(`${path}.lock`);
    const anew = await openStore({ kind: "sqlite", path });
    await anew.close();
  });

test("a service whose file is emptied stops, and neither it nor a command removes the log", async (t) => {
  const folder = makeFolder();
  const path = join(folder, "x.db");
  const program = await startProgram(path);
  const client = createClient(program.port);
  assert.equal((await client.send("POST", "/things", { n: 1 }))?.status, 201);
  client.close();
  copyFileSync(path, `${path}.moved`);
  const log = readFileSync(`${path}-wal`);
  const exited = once(program.child, "exit");
  truncateSync(path);
  const store = ["--store", `sqlite:${path}`];
  const commands = [["export", "things"], ["backup", "y.db"], ["keys", "create", "--name", "a"], ["check"]];
  for (const command of commands) {
    const { exitCode, stderr } = await run(t, [...command, ...store], { cwd: folder });
    assert.equal(exitCode, 1, command.join(" "));
    assert.match(stderr, /is missing or empty, but its log \S+ has writes\. Put the file back\./);
  }
  assert.deepEqual(await exited, [1, null]);
  assert.deepEqual(readFileSync(`${path}-wal`), log);
  assert.equal(existsSync(`${path}-shm`), true);
  renameSync(`${path}.moved`, path);
  const again = await openStore({ kind: "sqlite", path });
  assert.equal(await again.count("things"), 1);
  await again.close();
});
