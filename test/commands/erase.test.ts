import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { configuration, folder, run, serve, stop } from "./cli.ts";

const line = '{"id":"a","name":"Xanthippe"}\n{"id":"b","name":"Sokrates"}\n';

test("an erased resource is gone with its history, and the command says so", async (t) => {
  const cwd = await folder(t, { people: line });
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

test("what a deleted resource left behind is erased, but not beside a running service", async (t) => {
  const cwd = await folder(t, { people: line });
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

test("a store or a collection that is not there is one line", async (t) => {
  const cwd = await folder(t, { people: line });
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
  const cwd = await folder(t, { ...files, ...configuration(declared) });
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
