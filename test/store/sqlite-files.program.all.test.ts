import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { StartError } from "../../src/errors.ts";
import { openReader, openStore } from "../../src/store/open.ts";
import { maxPageBytes } from "../../src/store/port/page.ts";
import { requireSafeSqlite } from "../../src/store/sqlite/file/open-file.ts";
import { watchFiles } from "../../src/store/sqlite/file/watch.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { commit, created, declaration, rejectsWith, scannedIds, textOf, topic } from "./contract/fixture.ts";
import { startProgram } from "./programs/start.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const topics = declaration("topics");

/** A store with some hundred pages of resources, closed. */
async function makeStore(path: string, resources = 2_000): Promise<void> {
  const store = await openStore({ kind: "sqlite", path });
  await store.migrate([topics]);
  const load = await store.load("topics");
  await load.add(
    Array.from({ length: resources }, (_, n) => {
      const id = `t${String(n).padStart(5, "0")}`;
      return { id, text: textOf(id, { pad: "x".repeat(200) }) };
    }),
  );
  await load.finish();
  await store.close();
}

/** Fails unless the store at `path` is refused in one line that matches. */
async function requireRefused(path: string, line: RegExp): Promise<void> {
  await assert.rejects(openStore({ kind: "sqlite", path }), (error: Error) => {
    assert.ok(error instanceof StartError, String(error.stack));
    assert.match(error.message, line);
    assert.doesNotMatch(error.message, /\n/);
    assert.ok(error.message.includes(path), error.message);
    return true;
  });
}

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = makeFolder();
  await run(folder);
}

function overwrite(path: string, position: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

test("a store in a folder that does not exist is refused, and the folder is named", () =>
  inFolder((folder) =>
    requireRefused(join(folder, "no", "x.db"), /folder .* does not exist\. Create \S+no,/),
  ));

test("a folder is no store", () =>
  inFolder((folder) => requireRefused(folder, /is not a file\. Choose another/)));

test("a file that is no SQLite database is refused and left alone", () =>
  inFolder(async (folder) => {
    const path = join(folder, "picture.png");
    const picture = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(5_000, 7)]);
    writeFileSync(path, picture);
    await requireRefused(path, /is not a SQLite database.*Choose another store/);
    assert.deepEqual(readFileSync(path), picture);
  }));

test("a database of another program is refused and left alone", () =>
  inFolder(async (folder) => {
    for (const sql of ["create table bookmarks (url)", "pragma application_id = 7"]) {
      const path = join(folder, `${sql.length}.db`);
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
      const before = readFileSync(path);
      await requireRefused(path, /is a SQLite database of another program\. Choose another store/);
      assert.deepEqual(readFileSync(path), before);
    }
  }));

test("a file with a destroyed header, first page, or end is refused", () =>
  inFolder(async (folder) => {
    const whole = join(folder, "whole.db");
    await makeStore(whole);
    const damages: [string, (path: string) => void][] = [
      ["header", (path) => overwrite(path, 0, Buffer.alloc(100, 0x55))],
      ["page 1", (path) => overwrite(path, 100, Buffer.alloc(3_996, 0x55))],
      ["cut in the first page", (path) => truncateSync(path, 700)],
      ["cut in half", (path) => truncateSync(path, Math.floor(statSync(path).size / 8_192) * 4_096)],
    ];
    for (const [name, damage] of damages) {
      const path = join(folder, `${name}.db`);
      copyFileSync(whole, path);
      damage(path);
      await requireRefused(path, /damaged|not a SQLite database/);
    }
  }));

test("damage in the middle of the file is found soon after the start, and stops the store", () =>
  inFolder(async (folder) => {
    const path = join(folder, "x.db");
    await makeStore(path);
    const page = Math.floor(statSync(path).size / 8_192);
    overwrite(path, page * 4_096, Buffer.alloc(4_096, 0x55));
    const { promise, resolve } = Promise.withResolvers<string>();
    const store = await openStore({ kind: "sqlite", path }, { onFailure: resolve });
    assert.match(await promise, /x\.db is damaged: /);
    assert.equal(store.health().kind, "failed");
    await rejectsWith("UNAVAILABLE", commit(store, [created(topic("a"))]));
    await rejectsWith("UNAVAILABLE", (async () => store.read(topic("a")))());
    await store.close();
  }));

test("a sound store is not taken for a damaged one", () =>
  inFolder(async (folder) => {
    const path = join(folder, "x.db");
    await makeStore(path);
    const checked = Promise.withResolvers<void>();
    const note = (worker: Worker) => {
      if (worker.threadName === "holdfast-check") worker.once("exit", () => checked.resolve());
    };
    process.on("worker", note);
    const store = await openStore({ kind: "sqlite", path }, { onFailure: assert.fail });
    await checked.promise;
    process.off("worker", note);
    assert.deepEqual(store.health(), { kind: "ok" });
    await store.close();
  }));

test("a file or folder that this user may not write is refused", async (t) => {
  await inFolder(async (folder) => {
    // Root may write everywhere, so another user has to try.
    const isRoot = process.getuid?.() === 0;
    const nobody = 65_534;
    const who = isRoot ? { uid: nobody, gid: nobody } : {};
    const path = join(folder, "x.db");
    await makeStore(path, 1);
    if (isRoot) for (const file of [folder, path, `${path}.lock`]) chownSync(file, nobody, nobody);
    const program = startProgram("open.ts", [path], who);
    const line = await program.line;
    if (/EACCES/.test(line)) return t.skip(`user ${nobody} cannot run this test's program: ${line}`);
    assert.equal(line, "opened");
    await program.end();
    chmodSync(path, 0o444);
    assert.match(
      await startProgram("open.ts", [path], who).line,
      /^StartError: .*x\.db is read-only for this user\. Allow/,
    );
    chmodSync(path, 0o644);
    chmodSync(folder, 0o555);
    assert.match(
      await startProgram("open.ts", [path], who).line,
      /^StartError: .*folder .* is read-only for this user\. Allow/,
    );
    assert.match(
      await startProgram("open.ts", [join(folder, "new.db")], who).line,
      /^StartError: .*folder .* is read-only/,
    );
    assert.match(
      await startProgram("open.ts", [path, "reader"], who).line,
      /^StartError: .*x\.db cannot be read, because this user cannot write to its folder\. .* allow writing to /,
    );
    chmodSync(folder, 0o755);
    return undefined;
  });
});

test("a store that is open is refused to everybody else in one clear line", async () => {
  const { path, cleanup } = await openSqliteFixture();
  try {
    await requireRefused(path, /is in use by another Holdfast program .*\. Stop it, or choose another store/);
    assert.match(await startProgram("open.ts", [path]).line, /^StartError: .*is in use by another Holdfast/);
  } finally {
    await cleanup();
  }
});

test("a store whose process was killed can be opened at once, with all that it acknowledged", () =>
  inFolder(async (folder) => {
    const path = join(folder, "x.db");
    await makeStore(path, 5);
    const program = startProgram("open.ts", [path]);
    assert.equal(await program.line, "opened");
    await requireRefused(path, /is in use/);
    await program.end("SIGKILL");
    const store = await openStore({ kind: "sqlite", path });
    assert.equal(await store.count("topics"), 5);
    await store.close();
  }));

test("a reader works beside a service, and with none", async () => {
  const { path, store, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([topics]);
    await commit(store, [created(topic("a"))]);
    const reader = await openReader({ kind: "sqlite", path });
    await commit(store, [created(topic("b"))]);
    assert.deepEqual([reader.count("topics"), reader.count("none")], [2, 0]);
    assert.deepEqual(await scannedIds(reader, "topics"), ["a", "b"]);
    assert.deepEqual([...reader.collections().keys()], ["topics"]);
    await store.close();
    assert.deepEqual(await scannedIds(reader, "topics"), ["a", "b"]);
    await reader.close();
    const alone = await openReader({ kind: "sqlite", path });
    assert.deepEqual(await scannedIds(alone, "topics"), ["a", "b"]);
    await alone.close();
    await assert.rejects(openReader({ kind: "sqlite", path: `${path}.none` }), StartError);
  } finally {
    await cleanup();
  }
});

for (const [file, cut] of [
  ["-wal", (path: string) => truncateSync(`${path}-wal`)],
  ["", (path: string) => truncateSync(path, statSync(path).size - 4_096)],
] as const)
  test(`a check of the files finds that x.db${file} was cut`, async (t) => {
    const { path, database, tick, outcomes } = watchedFile(t);
    database.exec("create table one as select randomblob(9000)");
    if (file === "") database.exec("pragma wal_checkpoint");
    await tick();
    cut(path);
    await tick();
    assert.deepEqual(outcomes, ["tick", `${path}${file} was cut while it was in use`]);
  });

for (const file of ["", "-wal", "-shm"]) {
  for (const attack of ["remove", "replace"]) {
    test(`a write is not acknowledged that goes to a file x.db${file} which was ${attack}d`, async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const { path, store, cleanup } = await openSqliteFixture({ onFailure: resolve });
      try {
        await store.migrate([topics]);
        await commit(store, [created(topic("a"))]);
        if (attack === "remove") rmSync(path + file);
        else {
          copyFileSync(path + file, `${path}.copy`);
          renameSync(`${path}.copy`, path + file);
        }
        await rejectsWith("OUTCOME_UNKNOWN", commit(store, [created(topic("b"))]));
        const reason = await promise;
        assert.ok(reason.endsWith(`${file} was ${attack}d while it was in use`), reason);
        await rejectsWith("UNAVAILABLE", commit(store, [created(topic("c"))]));
      } finally {
        await cleanup();
      }
    });
  }
}

test("an import into a file that was removed under it does not say that it is done", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { path, store, cleanup } = await openSqliteFixture({ onFailure: resolve });
  try {
    await store.migrate([topics]);
    const load = await store.load("topics");
    await load.add([{ id: "a", text: textOf("a") }]);
    rmSync(path);
    await promise;
    await rejectsWith("UNAVAILABLE", load.add([{ id: "b", text: textOf("b") }]));
    await rejectsWith("UNAVAILABLE", load.finish());
  } finally {
    await cleanup();
  }
});

/** A file of SQLite whose checks begin with `tick`. */
function watchedFile(t: TestContext) {
  const folder = makeFolder();
  const path = join(folder, "store.db");
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal; create table t (a)");
  t.mock.timers.enable({ apis: ["setInterval"] });
  const outcomes: string[] = [];
  const stop = watchFiles(path, database, {
    onGone: (reason) => outcomes.push(reason),
    onTick: () => outcomes.push("tick"),
  });
  t.after(() => {
    stop();
    database.close();
  });
  const tick = async () => {
    const { length } = outcomes;
    t.mock.timers.tick(2_000);
    await until("a check has ended", () => outcomes.length > length);
  };
  return { folder, path, database, outcomes, stop, tick };
}

test("a check of the files that waits for the file system when the checks end has no effect", async (t) => {
  const { folder, outcomes, stop, tick } = watchedFile(t);
  await tick();
  t.mock.timers.tick(2_000);
  stop();
  for (let n = 0; n < 20; n++) await stat(folder); // the file system answers these later than the check
  assert.deepEqual(outcomes, ["tick"]);
});

test("a store goes on whose files an erase makes smaller", async (t) => {
  const { path, store, cleanup } = await openSqliteFixture();
  const database = new DatabaseSync(path);
  const outcomes: string[] = [];
  t.mock.timers.enable({ apis: ["setInterval"] });
  const stop = watchFiles(path, database, {
    onGone: (reason) => outcomes.push(reason),
    onTick: () => outcomes.push("tick"),
  });
  try {
    await store.migrate([topics]);
    const ids = ["a", "b", "c"];
    const pad = "x".repeat(200_000);
    for (const id of ids) await commit(store, [created(topic(id), { pad })]);
    const sizes: number[] = [];
    for (const id of ids) {
      await store.erase(topic(id));
      sizes.push(statSync(path).size);
      t.mock.timers.tick(2_000);
      await until("a check has ended", () => outcomes.length === sizes.length);
    }
    assert.deepEqual(
      sizes,
      sizes.toSorted((one, other) => other - one),
      "no erase made the file larger",
    );
    assert.ok((sizes[0] ?? 0) - (sizes[2] ?? 0) > 300_000, `${sizes}`);
    assert.deepEqual(outcomes, ["tick", "tick", "tick"]);
  } finally {
    stop();
    database.close();
    await cleanup();
  }
});

test("another program's short write makes commits wait and not fail", async () => {
  const { path, store, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([topics]);
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    let isOver = false;
    const waiting = commit(store, [created(topic("a"))]).finally(() => {
      isOver = true;
    });
    for (let reads = 0; reads < 200; reads++) {
      await turn();
      assert.equal(await store.read(topic("a")), undefined); // reads continue in the meantime
    }
    assert.equal(isOver, false);
    other.exec("commit");
    other.close();
    await waiting;
    assert.equal((await store.read(topic("a")))?.version, 1);
  } finally {
    await cleanup();
  }
});

test("a write lock that another program does not let go of is UNAVAILABLE after some seconds, and no failure", async () => {
  const { path, store, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([topics]);
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    await assert.rejects(commit(store, [created(topic("a"))]), {
      code: "UNAVAILABLE",
    });
    assert.deepEqual(store.health(), { kind: "ok" });
    other.exec("rollback");
    other.close();
    await commit(store, [created(topic("a"))]);
  } finally {
    await cleanup();
  }
});

test("a resource with a number that no number of ours can be is damage that names it, also in a list", async () => {
  const { path, store, cleanup } = await openSqliteFixture();
  try {
    await store.migrate([topics, declaration("large")]);
    await commit(
      store,
      ["a", "b", "c"].map((id) => created(topic(id))),
    );
    const pad = "x".repeat(0.3 * maxPageBytes);
    await commit(
      store,
      ["a", "b", "c"].map((id) => created({ collection: "large", id }, { pad })),
    );
    const other = new DatabaseSync(path);
    other.exec("update resources_1 set version = 9223372036854775807 where id = 'b'");
    other.exec("update resources_2 set version = 9223372036854775807 where id = 'c'");
    other.close();
    const damaged = (name: string) => ({
      code: "DATA_DAMAGED",
      message: new RegExp(`The resource ${name} is damaged`),
    });
    await assert.rejects(store.list({ collection: "topics", limit: 9 }), damaged("topics/b"));
    await assert.rejects(store.list({ collection: "large", limit: 9 }), damaged("large/c"));
    await assert.rejects(async () => store.read(topic("b")), damaged("topics/b"));
    const results = await Promise.allSettled([
      commit(store, [created(topic("d"))]),
      commit(store, [{ key: topic("b"), expect: 1, next: "{}" }]),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
  } finally {
    await cleanup();
  }
});

test("an orderly end leaves the file, the lock file beside it, and nothing else", () =>
  inFolder(async (folder) => {
    const path = join(folder, "x.db");
    await makeStore(path, 10);
    mkdirSync(join(folder, "other"));
    for (const [file, exists] of [
      ["", true],
      [".lock", true],
      [".lock-journal", false],
      ["-wal", false],
      ["-shm", false],
    ] as const) {
      assert.equal(statSync(path + file, { throwIfNoEntry: false }) !== undefined, exists, file);
    }
  }));

test("a SQLite with the bug that damages files is refused", () => {
  for (const old of ["3.51.2", "3.50.9", "3.7.0", "2.99.99", "0"]) {
    assert.throws(() => requireSafeSqlite(old), StartError, old);
  }
  for (const sound of ["3.51.3", "3.51.10", "3.52.0", "4.0.0", "3.100.0"]) requireSafeSqlite(sound);
  requireSafeSqlite();
});
