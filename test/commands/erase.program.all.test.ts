import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { auditCollection, auditName } from "../../src/capabilities/users/audit.ts";
import { put, Records } from "../../src/records.ts";
import { openStore } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";
import { mountSmallDisk, noDisk } from "../small-disk.ts";
import { startProgram } from "../store/programs/start.ts";
import { configuration, run, serve, serveHere, stop } from "./cli.ts";

const line = '{"id":"a","name":"Xanthippe"}\n{"id":"b","name":"Sokrates"}\n';

test("an erased resource is gone with its history, and the command says so", async (t) => {
  const cwd = makeFolder({ people: line });
  await run(t, ["import", "people", "people"], { cwd });
  const erased = await run(t, ["erase", "people", "a"], { cwd });
  assert.equal(erased.exitCode, 0, erased.stderr);
  assert.equal(erased.stderr, 'erased the resource "a" of people and 1 change of its history\n');
  assert.doesNotMatch(await readFile(join(cwd, "holdfast.db"), "latin1"), /Xanthippe/);
  const { stdout } = await run(t, ["export", "people"], { cwd });
  assert.equal(stdout, '{"id":"b","name":"Sokrates"}\n');
  const again = await run(t, ["erase", "people", "a"], { cwd });
  assert.deepEqual(
    [again.exitCode, again.stderr],
    [1, 'holdfast: The store has no resource and no history for the id "a" in people.\n'],
  );
});

test("the audit keeps no address, network or browser of an erased user, also not in the file", async (t) => {
  const cwd = makeFolder({ people: line });
  await run(t, ["import", "people", "people"], { cwd });
  const store = await openStore({ kind: "sqlite", path: join(cwd, "holdfast.db") }, { history: "forever" });
  const records = new Records(store, [auditCollection]);
  const source = { email: "xan@example.org", network: "192.0.2.0/24", agent: "Browser/1" };
  const entries = ["a", "a", "b"].map((subject, n) =>
    put(auditName, `e${n}`, undefined, { at: n, kind: "signIn", subject, ...source }),
  );
  await records.commit(entries, 1);
  await store.close();
  const erased = await run(t, ["erase", "people", "a"], { cwd });
  assert.equal(erased.exitCode, 0, erased.stderr);
  assert.match(erased.stderr, /^removed the address, network and browser from audit entries: 3$/m);
  const kept = await run(t, ["erase", "people", "b"], { cwd });
  assert.equal(kept.exitCode, 0, kept.stderr);
  assert.doesNotMatch(await readFile(join(cwd, "holdfast.db"), "latin1"), /xan@example|192\.0\.2|Browser/);
});

test("an erased user takes its account along, and no advice names a record of the service", async (t) => {
  const cwd = makeFolder({ people: line });
  await run(t, ["import", "people", "people"], { cwd });
  const store = await openStore({ kind: "sqlite", path: join(cwd, "holdfast.db") }, { history: "forever" });
  const references = [{ path: ["by"], collection: "people", onDelete: "cascade" }] as const;
  const declared = {
    name: "_kept",
    idKind: "uuid",
    schema: undefined,
    indexes: [],
    search: [],
    references,
  } as const;
  await store.migrate([declared]);
  const text = '{"id":"k","by":"a"}';
  await store.commit({
    changes: [{ key: { collection: "_kept", id: "k" }, expect: "absent", next: text }],
    at: 1,
  });
  await store.close();
  const erased = await run(t, ["erase", "people", "a"], { cwd });
  assert.deepEqual(
    [erased.exitCode, erased.stderr],
    [0, 'erased the resource "a" of people and 1 change of its history\n'],
  );
});

test("what a deleted resource left behind is erased, but not beside a running service", async (t) => {
  const cwd = makeFolder({ people: line });
  await run(t, ["import", "people", "people"], { cwd });
  const service = await serve(t, [], { cwd });
  await fetch(`${service.base}/people/a`, { method: "DELETE" });
  const beside = await run(t, ["erase", "people", "a"], { cwd });
  assert.equal(beside.exitCode, 1);
  assert.match(beside.stderr, /is in use by another Holdfast/);
  assert.equal((await fetch(`${service.base}/people/a?version=1`)).status, 200);
  await stop(service);
  const { exitCode, stderr } = await run(t, ["erase", "people", "a"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stderr, /^erased the deleted resource "a" of people and 2 changes of its history\n$/);
});

test("the id of a deleted resource is erased, even if the store has no history", async (t) => {
  const cwd = makeFolder({
    people: '{"id":"xanthippe"}\n',
    "holdfast.config.json": '{"history":"none"}',
  });
  await run(t, ["import", "people", "people"], { cwd });
  const service = await serveHere(t, {}, { cwd });
  await fetch(`${service.base}/people/xanthippe`, { method: "DELETE" });
  await service.stop();
  assert.deepEqual(filesWith(cwd, "xanthippe"), ["holdfast.db"]);
  const { exitCode, stderr } = await run(t, ["erase", "people", "xanthippe"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stderr, /^erased the deleted resource "xanthippe" of people and 0 changes of its history\n$/);
  assert.deepEqual(filesWith(cwd, "xanthippe"), []);
  const again = await run(t, ["erase", "people", "xanthippe"], { cwd });
  assert.equal(again.exitCode, 1, again.stderr);
});

test("a store or a collection that is not there is one line", async (t) => {
  const cwd = makeFolder({ people: line });
  const noStore = await run(t, ["erase", "people", "a"], { cwd });
  assert.match(noStore.stderr, /^holdfast: The store \/[^\n]+ does not exist\.\n$/);
  await run(t, ["import", "people", "people"], { cwd });
  const { exitCode, stderr } = await run(t, ["erase", "peple", "a"], { cwd });
  assert.deepEqual(
    [exitCode, stderr],
    [1, 'holdfast: The collection "peple" does not exist. Did you mean "people"?\n'],
  );
});

const people = '{"id":"a"}\n{"id":"b"}\n';
const read = async (cwd: string, t: TestContext, name: string) =>
  (await run(t, ["export", name], { cwd })).stdout;

test("what refers to the erased resource keeps it, or is cleared or deleted as by a delete, and that is told", async (t) => {
  const declared = {
    people: {},
    orders: { references: { by: "people" } },
    notes: { references: { of: { collection: "people", onDelete: "clear" } } },
    addresses: { references: { of: { collection: "people", onDelete: "cascade" } } },
    doors: { references: { at: { collection: "addresses", onDelete: "cascade" } } },
  };
  const files = {
    people,
    orders: '{"id":"o","by":"b"}\n',
    notes: '{"id":"n","of":["a","b"],"text":"x"}\n',
    addresses: '{"id":"h","of":"a"}\n{"id":"i","of":"b"}\n',
    doors: '{"id":"d","at":"h"}\n',
  };
  const cwd = makeFolder({ ...files, ...configuration(declared) });
  for (const name of Object.keys(files)) {
    const { exitCode, stderr } = await run(t, ["import", name, name], { cwd });
    assert.equal(exitCode, 0, stderr);
  }
  const kept = await run(t, ["erase", "people", "b"], { cwd });
  assert.equal(kept.exitCode, 1);
  assert.equal(
    kept.stderr,
    'holdfast: Nothing was erased. Other resources refer to "b": delete or change them first. Among them: orders/o.\n',
  );
  assert.equal(await read(cwd, t, "people"), people);
  assert.equal(await read(cwd, t, "notes"), files.notes);
  const { exitCode, stderr } = await run(t, ["erase", "people", "a"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stderr, /^erased the resource "a" of people and 1 change of its history$/m);
  assert.match(stderr, /^removed references to it from 1 resource$/m);
  assert.match(stderr, /^ {2}npx holdfast erase addresses h\n {2}npx holdfast erase doors d$/m);
  assert.equal(await read(cwd, t, "notes"), '{"id":"n","of":["b"],"text":"x"}\n');
  assert.equal(await read(cwd, t, "addresses"), '{"id":"i","of":"b"}\n');
  assert.equal(await read(cwd, t, "doors"), "");
  const rest = await run(t, ["erase", "addresses", "h"], { cwd });
  assert.match(rest.stderr, /^erased the deleted resource "h" of addresses and 2 changes of its history\n$/);
});

/** The files of a folder that contain a text anywhere, in rows or in unused space. */
const filesWith = (cwd: string, text: string) =>
  readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.db/.test(entry.name))
    .filter(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1").includes(text))
    .map(({ name }) => name);

const finishedLine =
  'removed what an interrupted erase of the resource "a" of people had left in the files of the store\n';

test("an erase that finds no space for its last step says so, and the same command finishes it later", async (t) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return t.skip(noDisk);
  t.after(() => disk.remove());
  const cwd = makeFolder({
    people: `${line}${'{"name":"Platon"}\n'.replace("}", `,"pad":"${"x".repeat(900)}"}`).repeat(600)}`,
  });
  const store = ["--store", join(disk.folder, "people.db")];
  const imported = await run(t, ["import", "people", "people", ...store], { cwd });
  assert.equal(imported.exitCode, 0, imported.stderr);
  const filler = join(disk.folder, "filler");
  writeFileSync(filler, Buffer.alloc(1_000_000));
  const full = await run(t, ["erase", "people", "a", ...store], { cwd });
  assert.equal(full.exitCode, 1);
  assert.match(
    full.stderr,
    /^erased the resource "a" of people and 1 change of its history\nholdfast: Its old text is still in unused parts of the files, because the disk is full\. Free some space, and run the same command again\.\n$/,
  );
  assert.notDeepEqual(filesWith(disk.folder, "Xanthippe"), [], "the disk had space after all");
  const still = await run(t, ["erase", "people", "a", ...store], { cwd });
  assert.equal(still.exitCode, 1);
  assert.match(still.stderr, /^holdfast: Its old text is still in unused parts of the files, because/);
  rmSync(filler);
  const again = await run(t, ["erase", "people", "a", ...store], { cwd });
  assert.deepEqual([again.exitCode, again.stderr], [0, finishedLine]);
  assert.deepEqual(filesWith(disk.folder, "Xanthippe"), []);
  const third = await run(t, ["erase", "people", "a", ...store], { cwd });
  assert.deepEqual([third.exitCode, /no resource and no history/.test(third.stderr)], [1, true]);
});

/** A store whose erase was killed between its transaction and the rewriting of the file. */
async function killedErase(t: TestContext): Promise<string> {
  const cwd = makeFolder({ people: line });
  const { exitCode, stderr } = await run(t, ["import", "people", "people"], { cwd });
  assert.equal(exitCode, 0, stderr);
  const program = startProgram("erase.ts", [join(cwd, "holdfast.db"), "a"]);
  assert.equal(await program.line, "erased");
  await program.end("SIGKILL");
  assert.notDeepEqual(filesWith(cwd, "Xanthippe"), [], "the erase was not interrupted");
  return cwd;
}

test("a killed erase is finished by the same command, and the files have the text no more", async (t) => {
  const cwd = await killedErase(t);
  const other = await run(t, ["erase", "people", "x"], { cwd });
  assert.equal(other.exitCode, 1, "another id was never erased");
  const again = await killedErase(t);
  const { exitCode, stderr } = await run(t, ["erase", "people", "a"], { cwd: again });
  assert.deepEqual([exitCode, stderr], [0, finishedLine]);
  for (const folder of [cwd, again]) assert.deepEqual(filesWith(folder, "Xanthippe"), []);
});

test("a killed erase is finished by the next start of the service, and the log says so", async (t) => {
  const cwd = await killedErase(t);
  const service = await serve(t, [], { cwd });
  assert.deepEqual(filesWith(cwd, "Xanthippe"), []);
  assert.match(JSON.stringify(service.output()), /finished an erase that was interrupted/);
  await stop(service);
  assert.deepEqual(filesWith(cwd, "Xanthippe"), []);
});

test("a backup does not contain what a killed erase has left in the file, and neither does a restored store", async (t) => {
  const cwd = await killedErase(t);
  const { exitCode, stderr } = await run(t, ["backup", "copied.db"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.ok(!filesWith(cwd, "Xanthippe").includes("copied.db"), "the backup");
  const raw = makeFolder({});
  for (const name of readdirSync(cwd).filter((name) => name.startsWith("holdfast.db")))
    writeFileSync(join(raw, name.replace("holdfast", "raw")), readFileSync(join(cwd, name)));
  const restored = await run(t, ["restore", join(raw, "raw.db")], { cwd: raw });
  assert.equal(restored.exitCode, 0, restored.stderr);
  assert.ok(!filesWith(raw, "Xanthippe").includes("holdfast.db"), "the restored store");
});

test("an erase that another program hinders says so, and leaves the rest for later", async (t) => {
  const cwd = makeFolder({ people: line });
  await run(t, ["import", "people", "people"], { cwd });
  const reader = new DatabaseSync(join(cwd, "holdfast.db"), { readOnly: true });
  reader.exec("begin; select * from meta");
  const hindered = await run(t, ["erase", "people", "a"], { cwd });
  reader.close();
  assert.equal(hindered.exitCode, 1);
  assert.match(
    hindered.stderr,
    /Its old text is still in unused parts of the files, because another program reads the store\. Wait until it has ended, and run the same command again\.\n$/,
  );
  const { exitCode, stderr } = await run(t, ["erase", "people", "a"], { cwd });
  assert.deepEqual([exitCode, stderr], [0, finishedLine]);
  assert.deepEqual(filesWith(cwd, "Xanthippe"), []);
});
