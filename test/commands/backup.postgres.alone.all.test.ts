/** Backups of a store beside a running service, and what is restored from them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { node } from "../node.ts";
import { databaseFor } from "../postgres/databases.ts";
import { mountSmallDisk, noDisk } from "../small-disk.ts";
import { parseTrace, tracing, whyNoTrace } from "../strace.ts";
import { until } from "../until.ts";
import {
  configuration,
  jsonLines,
  type RunningService,
  run,
  runProgram,
  serve,
  serveHere,
  start,
  stop,
} from "./cli.ts";

const stores = ["sqlite", "postgres"] as const;

const declared = configuration({ notes: {}, copies: {} });

/** An address for `--store`, and a folder with a configuration. */
async function place(t: TestContext, kind: (typeof stores)[number]): Promise<{ cwd: string; store: string }> {
  const cwd = makeFolder(declared);
  if (kind === "sqlite") return { cwd, store: "sqlite:shop.db" };
  const url = await databaseFor(t);
  return { cwd, store: url };
}

async function post({ base }: { base: string }, path: string, content: unknown): Promise<number> {
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${base}/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(content),
  });
  return status;
}

/** Writes batches of two resources until it is stopped. Each writer waits for its response before the next batch. */
function startWriters(service: RunningService, writers: number) {
  const confirmed = Array.from({ length: writers }, () => 0);
  let isOver = false;
  const write = async (writer: number) => {
    while (!isOver) {
      const n = confirmed[writer] as number;
      const operations = ["notes", "copies"].map((name) => ({
        method: "POST",
        path: `/${name}`,
        body: { writer, n },
      }));
      assert.equal(await post(service, "_batch", { operations }), 200);
      confirmed[writer] = n + 1;
    }
  };
  const ended = Promise.all(confirmed.map((_, writer) => write(writer)));
  return {
    confirmed,
    async stop() {
      isOver = true;
      await ended;
    },
  };
}

/** The numbers of a writer in a store, in order. */
async function numbersIn(t: TestContext, { cwd, store }: { cwd: string; store: string }, collection: string) {
  const { stdout, exitCode } = await run(t, ["export", collection, "--store", store], { cwd });
  assert.equal(exitCode, 0);
  const found = new Map<number, number[]>();
  for (const { writer, n } of jsonLines(stdout) as { writer: number; n: number }[])
    found.set(
      writer,
      [...(found.get(writer) ?? []), n].sort((a, b) => a - b),
    );
  return found;
}

for (const kind of stores)
  test(`a backup of ${kind} beside writers is one moment with every write that was confirmed before`, async (t) => {
    const { cwd, store } = await place(t, kind);
    const service = await serve(t, ["--store", store], { cwd });
    const writers = startWriters(service, 8);
    await until("there are writes", () => writers.confirmed.every((n) => n > 5));
    const before = [...writers.confirmed];
    const backedUp = await runProgram(t, ["backup", "backup.db", "--store", store], { cwd }); // in a process of its own, so that writes go on
    const after = writers.confirmed.map((n) => n + 1); // one more can be committed without its response
    assert.equal(backedUp.exitCode, 0, backedUp.stderr);
    assert.match(
      backedUp.stderr,
      /^[\d,]+ resources with [\d,]+ changes, 0 keys .* backed up to backup\.db \(.*\) in /,
    );
    assert.match(
      backedUp.stderr,
      /compared the backup with the store: their content is identical \(sha256 \w{64}\)/,
    );
    await until("writes go on", () => writers.confirmed.every((n, writer) => n > (after[writer] as number)));
    await writers.stop();
    await stop(service);
    assert.equal(statSync(join(cwd, "backup.db")).mode & 0o777, 0o600);
    const restored = await run(t, ["restore", "backup.db", "--store", "sqlite:restored.db"], { cwd });
    assert.equal(restored.exitCode, 0, restored.stderr);
    const place2 = { cwd, store: "sqlite:restored.db" };
    const notes = await numbersIn(t, place2, "notes");
    assert.deepEqual(await numbersIn(t, place2, "copies"), notes, "half of a batch");
    for (const [writer, confirmed] of before.entries()) {
      const found = notes.get(writer) ?? [];
      assert.deepEqual(
        found,
        Array.from({ length: found.length }, (_, n) => n),
        "a write is missing",
      );
      assert.ok(
        found.length >= confirmed && found.length <= (after[writer] as number),
        `${found.length} of ${confirmed}`,
      );
    }
    const again = await serveHere(t, { store: "sqlite:restored.db" }, { cwd });
    assert.equal(await post(again, "notes", { n: 1 }), 201);
    await again.stop();
  });

/** The files of stores, by the number of their resources. */
const imported = new Map<number, Buffer>();

/** A folder with a store that has so many resources. */
async function filled(t: TestContext, count = 20): Promise<string> {
  const cwd = makeFolder(declared);
  const file = join(cwd, "holdfast.db");
  const known = imported.get(count);
  if (known !== undefined) {
    await writeFile(file, known);
    return cwd;
  }
  const lines = Array.from({ length: count }, (_, n) => `{"n":${n}}\n`);
  await writeFile(join(cwd, "notes.ndjson"), lines.join(""));
  const { exitCode, stderr } = await run(t, ["import", "notes", "notes.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  imported.set(count, readFileSync(file));
  return cwd;
}

describe("a backup", () => {
  test("replaces no file, and leaves nothing behind if it is refused", async (t) => {
    const cwd = await filled(t);
    await writeFile(join(cwd, "backup.db"), "mine");
    const before = readdirSync(cwd);
    const { exitCode, stderr } = await run(t, ["backup", "backup.db"], { cwd });
    assert.equal(exitCode, 1);
    assert.match(stderr, /backup\.db exists\. Choose another file/);
    const missing = await run(t, ["backup", "nowhere/backup.db"], { cwd });
    assert.match(missing.stderr, /The folder .*nowhere does not exist, or this user cannot write to it/);
    const none = await run(t, ["backup", "b.db", "--store", "sqlite:other.db"], { cwd });
    assert.match(none.stderr, /other\.db does not exist/);
    assert.deepEqual(
      readdirSync(cwd).filter((name) => !/-(?:wal|shm)$/.test(name)),
      before.filter((name) => !/-(?:wal|shm)$/.test(name)),
    );
  });

  test("that is killed or interrupted never has its name", async (t) => {
    const cwd = await filled(t, 30_000);
    const incomplete = join(cwd, "backup.db.incomplete");
    const killed = start(t, ["backup", "backup.db"], { cwd });
    await until("it has started", () => existsSync(join(incomplete, "store.db")));
    killed.process.kill("SIGKILL");
    await killed.ended;
    assert.equal(existsSync(join(cwd, "backup.db")), false);
    const second = await run(t, ["backup", "backup.db"], { cwd });
    assert.equal(second.exitCode, 0, second.stderr);
    assert.deepEqual(
      readdirSync(cwd).filter((name) => name.startsWith("backup")),
      ["backup.db"],
    );
    await rm(join(cwd, "backup.db"));
    const interrupted = start(t, ["backup", "backup.db"], { cwd });
    await until("it has started", () => existsSync(join(incomplete, "store.db")));
    interrupted.process.kill("SIGTERM");
    const { exitCode, stderr } = await interrupted.ended;
    assert.equal(exitCode, 130, stderr);
    assert.match(stderr, /interrupted; no backup was made/);
    assert.deepEqual(
      readdirSync(cwd).filter((name) => name.startsWith("backup")),
      [],
    );
  });

  test("refuses the folder of a command that is at work, and a folder with other files", async (t) => {
    const cwd = await filled(t, 30_000);
    const incomplete = join(cwd, "backup.db.incomplete");
    const first = start(t, ["backup", "backup.db"], { cwd });
    await until("it has started", () => existsSync(join(incomplete, "store.db")));
    first.process.kill("SIGSTOP");
    const second = await run(t, ["backup", "backup.db"], { cwd });
    first.process.kill("SIGCONT");
    assert.equal(second.exitCode, 1);
    assert.match(second.stderr, /backup\.db\.incomplete is in use: another command is making the same file/);
    assert.equal((await first.ended).exitCode, 0);
    assert.ok(existsSync(join(cwd, "backup.db")));
    await mkdir(join(cwd, "mine.db.incomplete"));
    await writeFile(join(cwd, "mine.db.incomplete", "thesis.txt"), "mine");
    const third = await run(t, ["backup", "mine.db"], { cwd });
    assert.match(third.stderr, /mine\.db\.incomplete exists, and contains other files/);
    assert.deepEqual(readdirSync(join(cwd, "mine.db.incomplete")), ["thesis.txt"]);
  });

  test("with --every removes the folders that killed backups have left", async (t) => {
    const cwd = await filled(t, 30_000);
    const killed = start(t, ["backup", "shop-20260101T000000Z.db"], { cwd });
    const left = join(cwd, "shop-20260101T000000Z.db.incomplete");
    await until("it has started", () => existsSync(join(left, "store.db")));
    killed.process.kill("SIGKILL");
    await killed.ended;
    const running = start(t, ["backup", "shop.db", "--every", "1h"], { cwd });
    await until("there is one", () => running.output().stderr.includes("backed up to"));
    running.process.kill("SIGTERM");
    const { stderr } = await running.ended;
    assert.match(stderr, /removed .*shop-20260101T000000Z\.db\.incomplete, which a killed backup left\n/);
    assert.equal(existsSync(left), false);
  });

  test("waits for the disk after each part, so that the commits of the service never wait for all of it", {
    skip: whyNoTrace(),
  }, async (t) => {
    const cwd = await filled(t, 30_000);
    const file = join(cwd, "trace");
    const [program = "", ...options] = tracing("pwrite64,fdatasync", { file, more: ["-y"] });
    const traced = options.filter((option) => option !== "-D"); // the program that is waited for is strace itself
    const command = [...node, resolve("bin/holdfast.js")];
    const { exitCode } = await runProgram(t, [...traced, ...command, "backup", "backup.db"], {
      cwd,
      program,
    });
    assert.equal(exitCode, 0);
    const calls = parseTrace(readFileSync(file, "latin1")).filter((call) => call.file.endsWith("/store.db"));
    const pages = calls.filter(({ name }) => name === "pwrite64").length;
    let since = 0;
    let most = 0;
    for (const { name } of calls) {
      since = name === "fdatasync" ? 0 : since + 1;
      most = Math.max(most, since);
    }
    assert.ok(pages > 2_000, `${pages}`);
    assert.ok(most <= 600, `${most} pages of ${pages} without a flush`);
  });

  test("is repeated with --every, and only the latest ones are kept", async (t) => {
    const cwd = await filled(t);
    await writeFile(join(cwd, "shop-mine.db"), "mine");
    const running = start(t, ["backup", "shop.db", "--every", "1s", "--keep", "2"], { cwd });
    const made = () => running.output().stderr.match(/backed up to/g)?.length ?? 0;
    await until("there are four", () => made() >= 4);
    running.process.kill("SIGTERM");
    const { exitCode, stderr } = await running.ended;
    // 130: the signal came during a backup.
    assert.equal(exitCode, stderr.includes("the last backup was not finished") ? 130 : 0, stderr);
    const backups = readdirSync(cwd).filter((name) => /^shop-\d{8}T\d{6}Z\.db$/.test(name));
    assert.ok(backups.length === 2 || backups.length === 3, backups.join());
    assert.ok(existsSync(join(cwd, "shop-mine.db")));
    const newest = backups.sort().at(-1) as string;
    assert.ok(stderr.includes(newest));
  });

  test("waits also for a time that is longer than a timer of Node can be", async (t) => {
    const cwd = await filled(t);
    const running = start(t, ["backup", "shop.db", "--every", "30d"], { cwd });
    await until("there is one", () => running.output().stderr.includes("compared the backup"));
    running.process.kill("SIGTERM");
    const { exitCode, stderr } = await running.ended;
    assert.equal(exitCode, 0, stderr);
    assert.doesNotMatch(stderr, /Timeout/);
  });

  test("onto a full disk says so, and leaves nothing behind", async (t) => {
    const disk = mountSmallDisk();
    if (disk === undefined) return t.skip(noDisk);
    t.after(() => disk.remove());
    const cwd = await filled(t, 30_000);
    const { exitCode, stderr } = await run(t, ["backup", join(disk.folder, "backup.db")], { cwd });
    assert.equal(exitCode, 1);
    assert.ok(stderr.includes(`The disk of ${disk.folder}/backup.db.incomplete/store.db is full.`), stderr);
    assert.deepEqual(readdirSync(disk.folder), []);
    assert.equal((await run(t, ["backup", "backup.db"], { cwd })).exitCode, 0);
  });

  test("onto a disk that takes no more files says so, and leaves nothing behind", async (t) => {
    const disk = mountSmallDisk();
    if (disk === undefined) return t.skip(noDisk);
    t.after(() => disk.remove());
    const cwd = await filled(t);
    for (const files of [1, 2, 3]) {
      execFileSync("mount", ["-o", `remount,nr_inodes=${files}`, disk.folder]);
      const { exitCode, stderr } = await run(t, ["backup", join(disk.folder, "backup.db")], { cwd });
      assert.equal(exitCode, 1);
      assert.match(stderr, /^holdfast: The disk of .*backup\.db.* is full\. Free some space/m);
      assert.doesNotMatch(stderr, /does not exist/);
      assert.deepEqual(readdirSync(disk.folder), []);
    }
  });

  test("has options that are checked", async (t) => {
    const cwd = await filled(t);
    const refused = async (args: string[]) => (await run(t, ["backup", "b.db", ...args], { cwd })).stderr;
    assert.match(await refused(["--keep", "3"]), /--keep needs --every/);
    assert.match(
      await refused(["--every", "6h", "--keep", "0"]),
      /--keep must be the number of backups to keep/,
    );
    assert.match(await refused(["--every", "often"]), /--every must be a time such as/);
    assert.match(await refused(["--every", "0h"]), /--every must be/);
    assert.equal(existsSync(join(cwd, "b.db")), false);
    for (const address of ["sqlite:b.db", "postgres://localhost/b"]) {
      const { exitCode, stderr } = await run(t, ["backup", address], { cwd });
      assert.equal(exitCode, 1, stderr);
      assert.match(
        stderr,
        /^holdfast: A backup is a file, but "[^"]+" is the address of a store\. [^\n]+\n$/,
      );
    }
  });
});

describe("a restore", () => {
  test("replaces no store, and refuses what is no backup", async (t) => {
    const cwd = await filled(t);
    await run(t, ["backup", "backup.db"], { cwd });
    const over = await run(t, ["restore", "backup.db"], { cwd });
    assert.equal(over.exitCode, 1);
    assert.match(over.stderr, /holdfast\.db exists/);
    await writeFile(join(cwd, "text.db"), "not a database ".repeat(1_000));
    const text = await run(t, ["restore", "text.db", "--store", "sqlite:new.db"], { cwd });
    assert.match(text.stderr, /text\.db is not a SQLite database/);
    const missing = await run(t, ["restore", "gone.db", "--store", "sqlite:new.db"], { cwd });
    assert.match(missing.stderr, /^holdfast: The backup \S+gone\.db does not exist\. [^\n]+\n$/);
    assert.deepEqual(
      readdirSync(cwd).filter((name) => name.startsWith("new.db")),
      [],
    );
  });

  for (const ending of ["-wal", "-journal"])
    test(`refuses a file ${ending} of another store beside the new file, which SQLite would apply to it`, async (t) => {
      const cwd = await filled(t);
      await run(t, ["backup", "backup.db"], { cwd });
      await writeFile(join(cwd, `new.db${ending}`), "the log of the store that was here");
      for (const command of [
        ["restore", "backup.db", "--store", "sqlite:new.db"],
        ["backup", "new.db"],
      ]) {
        const { exitCode, stderr } = await run(t, command, { cwd });
        assert.equal(exitCode, 1, stderr);
        assert.match(stderr, /^holdfast: \S+new\.db-\w+ belongs to another store\. [^\n]+\n$/);
      }
      assert.deepEqual(
        readdirSync(cwd).filter((name) => name.startsWith("new.db")),
        [`new.db${ending}`],
      );
    });

  test("refuses a damaged backup", async (t) => {
    const cwd = await filled(t, 5_000);
    await run(t, ["backup", "backup.db"], { cwd });
    const size = statSync(join(cwd, "backup.db")).size;
    const file = await open(join(cwd, "backup.db"), "r+");
    for (let page = 20; page * 4_096 + 8 < size; page++)
      await file.write(Buffer.from([255, 255, 255, 255]), 0, 4, page * 4_096 + 1);
    await file.close();
    const { exitCode, stderr } = await run(t, ["restore", "backup.db", "--store", "sqlite:new.db"], { cwd });
    assert.equal(exitCode, 1, stderr);
    assert.match(stderr, /damaged/);
    assert.doesNotMatch(stderr, /Restore it from a backup/);
    assert.equal(existsSync(join(cwd, "new.db")), false);
  });

  /** A folder with a store and a backup of it, in which one character of a resource is not the one that was written. */
  async function changed(t: TestContext, kind: (typeof stores)[number] = "sqlite"): Promise<string> {
    const { cwd, store } = await place(t, kind);
    await writeFile(
      join(cwd, "notes.ndjson"),
      '{"id":"a","name":"Xanthippe"}\n{"id":"b","name":"Sokrates"}\n',
    );
    const imported = await run(t, ["import", "notes", "notes.ndjson", "--store", store], { cwd });
    assert.equal(imported.exitCode, 0, imported.stderr);
    const { exitCode, stderr } = await run(t, ["backup", "backup.db", "--store", store], { cwd });
    assert.equal(exitCode, 0, stderr);
    const content = readFileSync(join(cwd, "backup.db"));
    const at = content.indexOf("Sokrates");
    assert.ok(at > 0 && content.indexOf("Sokrates", at + 1) < 0);
    content.write("Z", at);
    await writeFile(join(cwd, "backup.db"), content);
    return cwd;
  }

  const differs = /^holdfast: \S+backup\.db differs from the backup that was made\. [^\n]+\n$/m;

  for (const kind of stores) {
    test(`refuses a backup of ${kind} with one changed character, and creates no store`, async (t) => {
      const cwd = await changed(t, kind);
      const { exitCode, stderr } = await run(t, ["restore", "backup.db", "--store", "sqlite:new.db"], {
        cwd,
      });
      assert.equal(exitCode, 1, stderr);
      assert.match(stderr, differs);
      assert.equal(existsSync(join(cwd, "new.db")), false);
    });

    test(`into ${kind} refuses a changed backup before it writes`, async (t) => {
      const cwd = await changed(t);
      const to = kind === "sqlite" ? "sqlite:other.db" : (await place(t, "postgres")).store;
      for (const command of [
        ["restore", "backup.db", "--store", to],
        ["copy", "--from", "sqlite:backup.db", "--to", to],
      ]) {
        const { exitCode, stderr } = await run(t, command, { cwd });
        assert.equal(exitCode, 1, stderr);
        assert.match(stderr, differs);
      }
      await run(t, ["import", "notes", "notes.ndjson", "--store", to], { cwd });
      assert.equal((await run(t, ["export", "notes", "--store", to], { cwd })).stdout.split("\n").length, 3);
    });
  }

  test("leaves nothing beside the backup, and reads it on a disk that cannot be written to", async (t) => {
    const disk = mountSmallDisk();
    if (disk === undefined) return t.skip(noDisk);
    t.after(() => disk.remove());
    const cwd = await filled(t);
    const backup = join(disk.folder, "backup.db");
    assert.equal((await run(t, ["backup", backup], { cwd })).exitCode, 0);
    execFileSync("mount", ["-o", "remount,ro", disk.folder]);
    const { store: postgres } = await place(t, "postgres");
    for (const command of [
      ["restore", backup, "--store", "sqlite:new.db"],
      ["restore", backup, "--store", postgres],
      ["copy", "--from", `sqlite:${backup}`, "--to", "sqlite:copied.db"],
      ["export", "notes", "--store", `sqlite:${backup}`],
      ["check", "--store", `sqlite:${backup}`],
      ["backup", "second.db", "--store", `sqlite:${backup}`],
    ]) {
      const { exitCode, stderr } = await run(t, command, { cwd });
      assert.equal(exitCode, 0, `${command.join(" ")}: ${stderr}`);
    }
    execFileSync("mount", ["-o", "remount,rw", disk.folder]);
    assert.equal((await run(t, ["restore", backup, "--store", "sqlite:new2.db"], { cwd })).exitCode, 0);
    assert.deepEqual(readdirSync(disk.folder), ["backup.db"]);
    return undefined;
  });

  test("a backup that is used as a store is one: it can be written to, and backed up and restored again", async (t) => {
    const cwd = await filled(t);
    assert.equal((await run(t, ["backup", "shop.db"], { cwd })).exitCode, 0);
    const store = ["--store", "sqlite:shop.db"];
    const created = await run(t, ["keys", "create", "--name", "k", "--role", "admin", ...store], { cwd });
    assert.equal(created.exitCode, 0, created.stderr);
    const service = await serveHere(t, { store: "sqlite:shop.db" }, { cwd });
    assert.equal(await post(service, "notes", { n: 100 }), 201);
    await service.stop();
    for (const command of [
      ["backup", "again.db", ...store],
      ["restore", "again.db", "--store", "sqlite:new.db"],
      ["restore", "shop.db", "--store", "sqlite:new2.db"],
    ]) {
      const { exitCode, stderr } = await run(t, command, { cwd });
      assert.equal(exitCode, 0, stderr);
    }
    for (const name of ["new.db", "new2.db"]) {
      const { stdout } = await run(t, ["export", "notes", "--store", `sqlite:${name}`], { cwd });
      assert.equal(jsonLines(stdout).length, 21);
    }
  });

  for (const kind of stores)
    test(`of ${kind} and a copy continue with the next integer id, also after the service was killed`, async (t) => {
      const { store } = await place(t, kind);
      const cwd = makeFolder(configuration({ numbers: { id: "integer" } }));
      const nextId = async (of: { base: string }) => {
        const headers = { "content-type": "application/json" };
        const created = await fetch(`${of.base}/numbers`, { method: "POST", headers, body: "{}" });
        return ((await created.json()) as { id: number }).id;
      };
      const service = await serve(t, ["--store", store], { cwd });
      assert.deepEqual([await nextId(service), await nextId(service), await nextId(service)], [1, 2, 3]);
      assert.ok((await fetch(`${service.base}/numbers/3`, { method: "DELETE" })).ok);
      assert.equal((await run(t, ["backup", "backup.db", "--store", store], { cwd })).exitCode, 0);
      service.process.kill("SIGKILL");
      await service.ended;
      for (const command of [
        ["restore", "backup.db", "--store", "sqlite:restored.db"],
        ["copy", "--from", store, "--to", "sqlite:copied.db"],
      ])
        assert.equal((await run(t, command, { cwd })).exitCode, 0);
      for (const name of ["sqlite:restored.db", "sqlite:copied.db", store]) {
        const again = await serveHere(t, { store: name }, { cwd });
        assert.equal(await nextId(again), 4, name);
        await again.stop();
      }
    });

  for (const kind of stores)
    test(`into ${kind} disables webhooks, and keeps resources, history and keys`, async (t) => {
      const { cwd, store } = await place(t, "sqlite");
      const service = await serve(t, ["--store", store], { cwd });
      assert.equal(await post(service, "notes", { n: 1 }), 201);
      const hook = { url: "https://example.org/hook", collections: ["notes"] };
      assert.equal(await post(service, "_webhooks", hook), 201);
      const list = await (await fetch(`${service.base}/notes`)).text();
      assert.equal((await run(t, ["backup", "backup.db", "--store", store], { cwd })).exitCode, 0);
      await stop(service);
      const to = kind === "sqlite" ? "sqlite:restored.db" : (await place(t, "postgres")).store;
      const restored = await run(t, ["restore", "backup.db", "--store", to], { cwd });
      assert.equal(restored.exitCode, 0, restored.stderr);
      assert.match(restored.stderr, /disabled 1 webhook of the restored store/);
      const again = await serveHere(t, { store: to }, { cwd });
      assert.equal(await (await fetch(`${again.base}/notes`)).text(), list);
      const [{ id }] = (await (await fetch(`${again.base}/_webhooks`)).json()) as [{ id: string }];
      const status = (await (await fetch(`${again.base}/_webhooks/${id}/_status`)).json()) as {
        state: string;
      };
      assert.equal(status.state, "disabled");
      await again.stop();
      if (kind === "sqlite") {
        const database = new DatabaseSync(join(cwd, "restored.db"), { readOnly: true });
        assert.equal(database.prepare("pragma integrity_check").get()?.integrity_check, "ok");
        database.close();
      }
    });
});
