/** Copies that do not come to their end at once, and what is not to be copied. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import fc from "fast-check";
import { StartError } from "../../src/errors.ts";
import { openKeys, openReader, openStore, type StoreAddress } from "../../src/store/open.ts";
import { query } from "../postgres/databases.ts";
import { makeBusy } from "./busy.ts";
import { observe } from "./observe.ts";
import { makePlace, ways } from "./places.ts";
import { askEach, copy, copyPages } from "./run.ts";

const seed = Number(process.env.HOLDFAST_SEED ?? Math.floor(Math.random() * 2 ** 31));

const refusal = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.match(error.message, words);
  return true;
};

/** Runs the program and gives what it says; `undefined` when it was killed. */
async function runProgram(from: StoreAddress, to: StoreAddress, kill: { pages: number; ms: number }) {
  const args = [JSON.stringify(from), JSON.stringify(to), String(kill.pages), String(kill.ms)];
  const child = spawn(process.execPath, [join(import.meta.dirname, "program.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return signal === "SIGKILL" ? undefined : said;
}

for (const { from, to } of ways.filter((way) => way.from !== way.to)) {
  test(`a copy from ${from} to ${to} that is killed again and again goes on where it was (HOLDFAST_SEED=${seed})`, async (t) => {
    const [source, target, straight] = [
      await makePlace(t, from),
      await makePlace(t, to),
      await makePlace(t, to),
    ];
    await makeBusy(source, seed);
    const kills = fc.sample(fc.record({ pages: fc.integer({ min: 2, max: 35 }), ms: fc.nat(4) }), {
      seed,
      numRuns: 4,
    });
    let killed = 0;
    let checksum: string | undefined;
    for (const kill of kills) {
      checksum = await runProgram(source, target, kill);
      if (checksum !== undefined) break;
      killed++;
    }
    assert.ok(killed > 1, `killed ${killed} times`);
    checksum ??= await runProgram(source, target, { pages: 1e9, ms: 0 });
    assert.equal(checksum, (await copy(source, straight)).checksum);
    const [before, after] = await askEach([source, target], observe);
    assert.deepEqual(after, before);
  });
}

for (const to of ["sqlite", "postgres"] as const) {
  test(`half a copy in ${to} cannot be opened, and goes on after that`, async (t) => {
    const [source, target] = [await makePlace(t, "sqlite"), await makePlace(t, to)];
    await makeBusy(source, seed);
    await copyPages(source, target, 12);
    for (const open of [openStore, openReader, openKeys])
      await assert.rejects(async () => open(target), refusal(/is a copy that is not finished/));
    const { resumedAt } = await copy(source, target);
    assert.ok(resumedAt > 10);
    await openStore(target).then((store) => store.close());
  });

  test(`what was damaged in ${to} after it was copied is found`, async (t) => {
    const source = await makePlace(t, "sqlite");
    await makeBusy(source, seed);
    const kim = /in the resources of users: "kim"/;
    const damages = [
      { sql: "update USERS set version = version + 1 where ID = 'kim'", where: kim },
      { sql: "delete from USERS where ID = 'kim'", where: kim },
      { sql: "update KEYS set revoked_at = null", where: /in the keys: "hf_3"/ },
    ];
    for (const { sql, where } of damages) {
      const target = await makePlace(t, to);
      await copyPages(source, target, 30);
      await damage(target, sql);
      await assert.rejects(copy(source, target), refusal(where));
      await assert.rejects(openStore(target), refusal(/not finished/));
    }
  });
}

/** The users are the first collection. */
async function damage(address: StoreAddress, sql: string): Promise<void> {
  if (address.kind === "postgres") {
    const names = { USERS: "holdfast_resources_1", ID: "key", KEYS: "holdfast_keys" } as const;
    await query(
      address.url,
      sql.replace(/USERS|ID|KEYS/g, (name) => names[name as keyof typeof names]),
    );
    return;
  }
  const database = new DatabaseSync(address.path);
  database.exec(sql.replace("USERS", "resources_1"));
  database.close();
}

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

for (const from of ["sqlite", "postgres"] as const) {
  test(`a source in ${from} that has changed since the copy was begun is not copied on`, async (t) => {
    const [source, target] = [await makePlace(t, from), await makePlace(t, "sqlite")];
    await makeBusy(source, seed);
    await copyPages(source, target, 12);
    await writeTo(source);
    await assert.rejects(copy(source, target), refusal(/written to since the copy was begun/));
  });
}

test("a database that is written to while it is copied gives no copy", async (t) => {
  const [source, target] = [await makePlace(t, "postgres"), await makePlace(t, "sqlite")];
  await makeBusy(source, seed);
  let written: Promise<void> | undefined;
  const update = () => {
    written ??= writeTo(source);
  };
  const watch = async () => ({ update, stop() {} });
  await assert.rejects(copy(source, target, { watch }), refusal(/written to since the copy was begun/));
  await written;
  await assert.rejects(openStore(target), refusal(/not finished/));
});

async function writeTo(address: StoreAddress): Promise<void> {
  const [id] = await askEach([address], (store) => store.reserveIds("numbers", 1));
  assert.ok(id);
}
