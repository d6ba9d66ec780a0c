/** A store's file is taken away from its log, in which the last writes are. */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, renameSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
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
    const folder = mkdtempSync(join(tmpdir(), "holdfast-moved-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
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
