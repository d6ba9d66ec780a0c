import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { ExpectedEnd } from "../../src/store/core/loads.ts";
import { openStore } from "../../src/store/open.ts";
import type { WriterRequest } from "../../src/store/sqlite/commit/protocol.ts";
import { startWriter } from "../../src/store/sqlite/commit/writer-client.ts";
import { createLogReader, duePages, logSizeLimit } from "../../src/store/sqlite/file/log-state.ts";
import { prepareFile } from "../../src/store/sqlite/file/open-file.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { commit, created, declaration, rejectsWith, topic, updated } from "./contract/fixture.ts";
import { startProgram } from "./programs/start.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const topics = declaration("topics");

test("when the writer thread dies, its pending requests are rejected and the failure is reported once", async () => {
  const folder = makeFolder();
  const path = join(folder, "x.db");
  prepareFile(path);
  const failures: string[] = [];
  const settings = { path, synchronous: "FULL", groupCommit: true, history: "forever" } as const;
  const writer = await startWriter(settings, {
    onFailure: (reason) => failures.push(reason),
    onChanged: () => {},
    maxWaitMs: 5_000,
    expectedEnd: new ExpectedEnd(),
  });
  const nonsense = { name: "commit", args: [1, undefined] } as unknown as WriterRequest;
  const asked = [writer.send(nonsense), writer.send({ name: "migrate", args: [[topics]] })];
  for (const promise of asked) await rejectsWith("OUTCOME_UNKNOWN", promise);
  await rejectsWith("UNAVAILABLE", writer.send({ name: "probe", args: [] }));
  assert.equal(failures.length, 1);
  await writer.close();
});

test("the integer id of a deleted resource is not given again after a crash, and no id is left out", async () => {
  const folder = makeFolder();
  const path = join(folder, "x.db");
  const program = startProgram("reserve.ts", [path]);
  const last = Number(await program.line);
  assert.ok(last >= 1_507);
  await program.end("SIGKILL");
  const store = await openStore({ kind: "sqlite", path });
  assert.equal(await store.reserveIds("numbers", 1), last + 1);
  await store.close();
});

test("the log stays small under many writes, also while a list is read again and again", async () => {
  const { path, store, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([topics]);
    const pad = "x".repeat(1_000);
    const ids = Array.from({ length: 50 }, (_, n) => `t${n}`);
    await commit(
      store,
      ids.map((id) => created(topic(id), { pad })),
    );
    for (let version = 1; version <= 200; version++) {
      const updates = ids.map((id) => commit(store, [updated(topic(id), version, { version, pad })]));
      await Promise.all([...updates, store.list({ collection: "topics", limit: 100 })]);
    }
    const { size } = statSync(`${path}-wal`);
    assert.ok(size < 16 * 1024 * 1024, `${size} bytes`);
    assert.equal((await store.read(topic("t7")))?.version, 201);
  } finally {
    await cleanup();
  }
});

test("after a long reader, the log becomes short without any write, and until then it is a warning", async () => {
  const warnings: string[] = [];
  const options = { maxLogBytes: 40e6, onWarning: (text: string) => warnings.push(text) };
  const { path, store, cleanup } = await openSqliteFixture(options);
  const other = new DatabaseSync(path, { readOnly: true });
  try {
    await store.migrate([topics]);
    other.exec("begin; select 1 from meta");
    const pad = "x".repeat(500_000);
    for (let n = 0; n < 200; n++) await commit(store, [created(topic(`t${n}`), { pad })]);
    await until("the long log is a warning", () => store.health().log === "long");
    assert.equal(store.health().kind, "ok");
    assert.match(
      warnings.join(),
      /^\d+ MB of the log wait for a checkpoint\. A program that reads the store/,
    );
    assert.ok(((await store.statistics()).logWaitingBytes ?? 0) > 40e6);
    assert.ok(statSync(`${path}-wal`).size > logSizeLimit);

    other.exec("commit");
    await until("the file of the log is short", () => statSync(`${path}-wal`).size <= logSizeLimit);
    await until("the health is good again", () => store.health().log === undefined);
    assert.ok(createLogReader(other)().waiting < duePages);
    assert.equal(await store.count("topics"), 200);
  } finally {
    other.close();
    await cleanup();
  }
});

test("when too many commits wait they are refused with UNAVAILABLE, and those that wait are written", async () => {
  const { store, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([topics]);
    const results = await Promise.allSettled(
      Array.from({ length: 10_050 }, (_, n) => commit(store, [created(topic(`t${n}`))])),
    );
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    assert.equal(refused.length, 50);
    for (const reason of refused) await rejectsWith("UNAVAILABLE", Promise.reject(reason));
    assert.equal(await store.count("topics"), 10_000);
  } finally {
    await cleanup();
  }
});

test("a new collection, or a new schema for one, leaves what is known of the others as it is", async () => {
  const { store, reopen, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([declaration("first"), declaration("second")]);
    const known = [...store.collections().values()];
    await store.migrate([declaration("third")]);
    await store.migrate([{ ...declaration("third"), schema: "{}" }, declaration("fourth")]);
    assert.ok(known.every((collection) => store.collections().get(collection.name) === collection)); // not read again
    for (const collection of ["first", "third", "fourth"])
      await commit(store, [created({ collection, id: "x" })]);
    const again = await reopen();
    assert.deepEqual(
      [...again.collections().values()].map(({ name, schema }) => [name, schema]),
      [
        ["first", undefined],
        ["second", undefined],
        ["third", "{}"],
        ["fourth", undefined],
      ],
    );
    assert.equal((await again.list({ collection: "fourth", limit: 2 })).total, 1);
  } finally {
    await cleanup();
  }
});
