import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Problem } from "../../src/errors.ts";
import { openStore } from "../../src/store/open.ts";
import { defaultHistory } from "../../src/store/port/options.ts";
import type { Store } from "../../src/store/port/store.ts";
import { prepareFile } from "../../src/store/sqlite/file/open-file.ts";
import { openWriter } from "../../src/store/sqlite/writer/writer.ts";
import { nodeFlags } from "../node.ts";
import { mountSmallDisk, noDisk } from "../small-disk.ts";
import { until } from "../until.ts";
import { commit, created, declaration, rejectsWith, topic } from "./contract/fixture.ts";

const pad = "x".repeat(2_000);
const problemOf = (error: unknown) => (error as Problem).code;

/** Writes until the first refusal. Returns the acknowledged ids, and the codes of the refusals. */
async function writeUntilRefused(store: Store, name: string): Promise<{ ids: string[]; codes: Set<string> }> {
  const ids: string[] = [];
  const codes = new Set<string>();
  for (let n = 0; codes.size === 0 && n < 10_000; n++) {
    const together = Array.from({ length: 8 }, (_, m) => `${name}${n}-${m}`);
    const results = await Promise.allSettled(
      together.map((id) => commit(store, [created(topic(id), { pad })])),
    );
    for (const [index, result] of results.entries()) {
      if (result.status === "fulfilled") ids.push(together[index] as string);
      else codes.add(problemOf(result.reason));
    }
  }
  return { ids, codes };
}

async function requireThere(store: Store, ids: readonly string[]): Promise<void> {
  for (const id of ids) assert.equal((await store.read(topic(id)))?.id, id);
  assert.equal(await store.count("topics"), ids.length);
}

test("on a full disk writes are refused with STORAGE_FULL, reads go on, and writes resume with room", async (t) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return t.skip(noDisk);
  const path = join(disk.folder, "x.db");
  const filler = join(disk.folder, "filler");
  writeFileSync(filler, "x".repeat(500_000));
  let store = await openStore({ kind: "sqlite", path }, { onFailure: assert.fail });
  t.after(async () => {
    await store.close();
    disk.remove();
  });
  await store.migrate([declaration("topics")]);

  const { ids, codes } = await writeUntilRefused(store, "first");
  assert.deepEqual([...codes], ["STORAGE_FULL"]);
  assert.ok(ids.length > 50);
  assert.equal(store.health().kind, "degraded");
  await requireThere(store, ids);
  const tooLarge = { pad: pad.repeat(1_000) };
  await rejectsWith(
    "STORAGE_FULL",
    commit(store, [created(topic("still")), created(topic("full"), tooLarge)]),
  );
  const load = await store.load("topics");
  await rejectsWith(
    "STORAGE_FULL",
    load.add([{ id: "l", text: JSON.stringify(tooLarge) }]).then(() => load.finish()),
  );
  await load.cancel();
  assert.equal(store.health().kind, "degraded"); // to take something back needs no space
  await requireThere(store, ids);

  rmSync(filler);
  await commit(store, [created(topic("room"), { pad })]);
  assert.deepEqual(store.health(), { kind: "ok" });
  const more = await writeUntilRefused(store, "then");
  assert.deepEqual([...more.codes], ["STORAGE_FULL"]);
  const all = [...ids, "room", ...more.ids];
  await requireThere(store, all);

  // The store finds out that the disk has space again, even without further writes.
  assert.equal(store.health().kind, "degraded");
  execFileSync("mount", ["-o", "remount,size=8m", disk.folder]);
  await until("there is room again", () => store.health().kind === "ok");
  assert.deepEqual(store.health(), { kind: "ok" });

  await store.close();
  store = await openStore({ kind: "sqlite", path }, { onFailure: assert.fail });
  await requireThere(store, all);
});

test("the probe for space fails while the disk is full", async (t) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return t.skip(noDisk);
  t.after(() => disk.remove());
  const path = join(disk.folder, "x.db");
  prepareFile(path);
  const writer = openWriter({ path, synchronous: "FULL", groupCommit: true, history: defaultHistory });
  t.after(() => writer.perform({ name: "close", args: [] }));
  assert.deepEqual(writer.perform({ name: "probe", args: [] }), { result: undefined });
  const filler = join(disk.folder, "filler");
  try {
    writeFileSync(filler, Buffer.alloc(4_000_000));
  } catch {} // as much as there is space for
  const answer = writer.perform({ name: "probe", args: [] });
  assert.equal("refusal" in answer && answer.refusal.code, "STORAGE_FULL");
  rmSync(filler);
  assert.deepEqual(writer.perform({ name: "probe", args: [] }), { result: undefined });
});

test("a store on a disk that is full from the start is refused in one line", async (t) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return t.skip(noDisk);
  t.after(() => disk.remove());
  try {
    writeFileSync(join(disk.folder, "filler"), Buffer.alloc(4_000_000));
  } catch {} // as much as there is room for
  await assert.rejects(openStore({ kind: "sqlite", path: join(disk.folder, "x.db") }), {
    name: "StartError",
    message: /The disk of .* is full/,
  });
});

test("commands that find no room to write name the store in one line", async (t) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return t.skip(noDisk);
  t.after(() => disk.remove());
  const path = join(disk.folder, "x.db");
  const store = await openStore({ kind: "sqlite", path });
  await store.migrate([declaration("topics")]);
  await store.close();
  const big = JSON.stringify(Array.from({ length: 2_000 }, () => ({ pad })));
  const env = { PATH: process.env.PATH, HOLDFAST_STORE: path };
  const args = [...nodeFlags, "bin/holdfast.js", "import", "topics", "-"];
  const { status, stderr } = spawnSync(process.execPath, args, { input: big, env, encoding: "utf8" });
  assert.equal(stderr, `holdfast: The disk of ${path} is full. Free some space, or choose another store.\n`);
  assert.equal(status, 1);
});
