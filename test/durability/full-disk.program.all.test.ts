/** No room on the disk: where SQLite keeps the index of its log, and for what a start must write. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { mountSmallDisk, noDisk } from "../small-disk.ts";
import { tracing, whyNoTrace } from "../strace.ts";
import { createClient, end, startProgram } from "./program.ts";

test("a write is in doubt when its commit is in the log and the index of the log cannot grow", {
  skip: whyNoTrace(),
}, async (t) => {
  const folder = makeFolder();
  const store = join(folder, "full.db");
  const first = await startProgram(store);
  await end(first, "SIGTERM");
  // The first eight writes make the index; the ninth would make room for a log of more than 4,062 pages.
  const noRoom = ["-P", `${store}-shm`, "-e", "inject=pwrite64:error=ENOSPC:when=9+"];
  const program = await startProgram(store, tracing("pwrite64", { more: noRoom }));
  t.after(() => end(program, "SIGKILL"));
  const client = createClient(program.port);
  t.after(() => client.close());
  await client.send("POST", "/things", { n: 0 });
  // While it reads, the log cannot begin again from its start.
  const reader = new DatabaseSync(store, { readOnly: true });
  reader.exec("begin; select * from meta");

  const text = "x".repeat(500_000);
  let n = 0;
  let answer = await client.send("POST", "/things", { n, text });
  while (answer?.status === 201 && n < 100) answer = await client.send("POST", "/things", { n: ++n, text });
  assert.deepEqual([answer?.status, JSON.parse(answer?.text ?? "{}").code], [503, "OUTCOME_UNKNOWN"]);
  assert.ok(n > 10 && n < 100, `the index could not grow at write ${n}`);

  await end(program, "SIGKILL");
  reader.close(); // so that the next program that opens the store reads the log again
  const again = await startProgram(store);
  t.after(() => end(again, "SIGTERM"));
  const found = createClient(again.port);
  t.after(() => found.close());
  const list = await found.send("GET", `/things?n=${n}&fields=n`);
  assert.equal(JSON.parse(list?.text ?? "").length, 1, "SQLite takes the commit from the log after all");
});

test("after a kill on a full disk, a service whose start must write only reads, and says so", async (t) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return t.skip(noDisk);
  t.after(() => disk.remove());
  const store = join(disk.folder, "x.db");
  const filler = join(disk.folder, "filler");
  const config = join(makeFolder(), "holdfast.config.json");
  writeFileSync(config, JSON.stringify({ openCollections: true, collections: { added: {} } }));
  const first = await startProgram(store);
  const client = createClient(first.port);
  for (let n = 0; n < 40; n++)
    assert.equal((await client.send("POST", "/things", { n, text: "x".repeat(6_000) }))?.status, 201);
  client.close();
  await end(first, "SIGKILL");
  try {
    writeFileSync(filler, Buffer.alloc(4_000_000));
  } catch {} // as much as there is room for

  const full = await startProgram(store, [], ["--config", config]);
  const reader = createClient(full.port);
  const list = await reader.send("GET", "/things?fields=n&limit=100");
  assert.equal(JSON.parse(list?.text ?? "").length, 40);
  const refused = await reader.send("POST", "/things", { n: 40 });
  assert.equal(refused?.status, 503);
  assert.match(refused?.text ?? "", /read-only/);
  reader.close();
  await end(full, "SIGTERM");

  rmSync(filler);
  const again = await startProgram(store, [], ["--config", config]);
  const writer = createClient(again.port);
  assert.equal((await writer.send("POST", "/added", { n: 1 }))?.status, 201);
  writer.close();
  await end(again, "SIGTERM");
});
