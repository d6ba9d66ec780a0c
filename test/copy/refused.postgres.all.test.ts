/** Refused sources and targets of copies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openKeys, openStore, type StoreAddress } from "../../src/store/open.ts";
import { commit, created } from "../store/contract/fixture.ts";
import { startProgram } from "../store/programs/start.ts";
import { makeBusy } from "./busy.ts";
import { makePlace } from "./places.ts";
import { askEach, copy, copyPages, refusal } from "./run.ts";

const seed = 7;

test("a database that holds no store, and half a copy, are no sources", async (t) => {
  const [none, source, half, target] = [
    await makePlace(t, "postgres", { isEmpty: true }),
    await makePlace(t, "sqlite"),
    await makePlace(t, "postgres"),
    await makePlace(t, "sqlite"),
  ];
  await assert.rejects(copy(none, target), refusal(/The database contains no store/));
  await makeBusy(source, seed);
  await copyPages(source, half, 5);
  await assert.rejects(copy(half, target), refusal(/holds an incomplete copy/));
});

test("a store that holds anything is not copied into", async (t) => {
  const source = await makePlace(t, "sqlite");
  await makeBusy(source, seed);
  for (const to of ["sqlite", "postgres"] as const) {
    const target = await makePlace(t, to);
    const keys = await openKeys(target);
    const key = {
      prefix: "hf_1",
      hash: "x",
      name: "k",
      subject: "k",
      roles: [],
      scopes: undefined,
      createdAt: 1,
    };
    await keys.add({ ...key, expiresAt: undefined, revokedAt: undefined, lastUsedAt: undefined });
    await keys.close();
    await assert.rejects(copy(source, target), refusal(/not empty/));
    const [left] = await askEach([target], (store) => store.keys.all());
    assert.equal(left?.length, 1);
  }
});

test("a file that somebody has open to write is not copied, and nobody writes to it while it is copied", async (t) => {
  const [source, target] = [await makePlace(t, "sqlite"), await makePlace(t, "sqlite")];
  await makeBusy(source, seed);
  const store = await openStore(source);
  await assert.rejects(copy(source, target), refusal(/in use by another Holdfast/));
  await store.close();
  let opened = 0;
  const tryToOpen = async () => {
    const writing = await openStore(source).catch(refusal(/in use by another Holdfast/));
    if (typeof writing === "boolean") return;
    opened++;
    await writing.close();
  };
  const tries: Promise<void>[] = [];
  const watch = async () => ({ update: () => void tries.push(tryToOpen()), stop() {} });
  await copy(source, target, { watch });
  await Promise.all(tries);
  assert.ok(tries.length > 10);
  assert.equal(opened, 0);
});

test("a database that is written to while it is copied gives no copy", async (t) => {
  const [source, target] = [await makePlace(t, "postgres"), await makePlace(t, "sqlite")];
  await makeBusy(source, seed);
  const watch = async (what: string) => {
    if (what === "copying") await writeTo(source);
    return { update() {}, stop() {} };
  };
  await assert.rejects(copy(source, target, { watch }), refusal(/has changed since the copy started/));
  await assert.rejects(openStore(target), refusal(/holds an incomplete copy/));
});

async function writeTo(address: StoreAddress): Promise<void> {
  await askEach([address], async (store) => {
    const id = String(await store.reserveIds("numbers", 1));
    await commit(store, [created({ collection: "numbers", id })]);
  });
}

test("a file whose service was killed is copied as it would be opened", async (t) => {
  const [source, target] = [await makePlace(t, "sqlite"), await makePlace(t, "sqlite")];
  assert.ok(source.kind === "sqlite");
  const program = startProgram("reserve.ts", [source.path]);
  const last = Number(await program.line);
  await program.end("SIGKILL");
  await copy(source, target);
  const [next, nextOfCopy] = await askEach([source, target], (store) => store.reserveIds("numbers", 1));
  assert.equal(next, last + 1);
  assert.equal(nextOfCopy, next);
});
