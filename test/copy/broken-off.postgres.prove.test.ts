/** Interrupted copies. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import fc from "fast-check";
import { openKeys, openReader, openStore, type StoreAddress } from "../../src/store/open.ts";
import { query } from "../postgres/databases.ts";
import { startProxy } from "../postgres/fault-proxy.ts";
import { seed } from "../seed.ts";
import { makeBusy } from "./busy.ts";
import { observe } from "./observe.ts";
import { makePlace, ways } from "./places.ts";
import { askEach, copy, copyPages, copyUntil, refusal } from "./run.ts";

/** Runs the program and returns its output; `undefined` if it was killed. */
async function runProgram(from: StoreAddress, to: StoreAddress, kill: { pages: number; ms: number }) {
  const args = [JSON.stringify(from), JSON.stringify(to), String(kill.pages), String(kill.ms)];
  const child = spawn(process.execPath, [join(import.meta.dirname, "program.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return signal === "SIGKILL" ? undefined : said;
}

for (const { from, to } of ways.filter((way) => way.from !== way.to)) {
  test(`a copy from ${from} to ${to} that is killed again and again goes on where it was (HOLDFAST_TEST_SEED=${seed})`, async (t) => {
    const [source, target, straight] = [
      await makePlace(t, from),
      await makePlace(t, to, { isEmpty: true }),
      await makePlace(t, to, { isEmpty: true }),
    ];
    await makeBusy(source, seed);
    const kills = fc.sample(fc.record({ pages: fc.integer({ min: 2, max: 8 }), ms: fc.nat(4) }), {
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
    const [source, target] = [await makePlace(t, "sqlite"), await makePlace(t, to, { isEmpty: true })];
    await makeBusy(source, seed);
    await copyPages(source, target, 12);
    for (const open of [openStore, openReader, openKeys])
      await assert.rejects(async () => open(target), refusal(/holds an incomplete copy/));
    const { resumedAt } = await copy(source, target);
    assert.ok(resumedAt > 10);
    await openStore(target).then((store) => store.close());
  });

  test(`what was damaged in ${to} after it was copied is found`, async (t) => {
    const source = await makePlace(t, "sqlite");
    await makeBusy(source, seed);
    const long = /in the resources of long: "l3"/;
    const damages = [
      { sql: "update LONG set version = version + 1 where ID = 'l3'", where: long },
      { sql: "delete from LONG where ID = 'l3'", where: long },
      { sql: "update KEYS set revoked_at = null", where: /in the keys: "hf_3"/ },
    ];
    for (const { sql, where } of damages) {
      const target = await makePlace(t, to, { isEmpty: true });
      await copyUntil(source, target, "creating indexes");
      await damage(target, sql);
      await assert.rejects(copy(source, target), refusal(where));
      await assert.rejects(openStore(target), refusal(/holds an incomplete copy/));
    }
  });
}

/** In the busy store, `long` is the fifth collection. */
async function damage(address: StoreAddress, sql: string): Promise<void> {
  if (address.kind === "postgres") {
    const names = { LONG: "holdfast_resources_5", ID: "key", KEYS: "holdfast_keys" } as const;
    await query(
      address.url,
      sql.replace(/LONG|ID|KEYS/g, (name) => names[name as keyof typeof names]),
    );
    return;
  }
  const database = new DatabaseSync(address.path);
  database.exec(sql.replace("LONG", "resources_5"));
  database.close();
}

for (const to of ["sqlite", "postgres"] as const) {
  test(`a copy into ${to} that ends when all is there but compared goes on`, async (t) => {
    const [source, target] = [await makePlace(t, "sqlite"), await makePlace(t, to, { isEmpty: true })];
    await makeBusy(source, seed);
    for (const part of ["creating indexes", "verifying", "verifying"] as const)
      await copyUntil(source, target, part);
    await copy(source, target);
    const [before, after] = await askEach([source, target], observe);
    assert.deepEqual(after, before);
  });
}

for (const cut of ["before", "after"] as const) {
  test(`a copy whose connection ends ${cut} a commit goes on where it was`, async (t) => {
    const [source, target, straight] = [
      await makePlace(t, "sqlite"),
      await makePlace(t, "postgres"),
      await makePlace(t, "sqlite"),
    ];
    assert.ok(target.kind === "postgres");
    await makeBusy(source, seed);
    await copyPages(source, target, 5);
    const proxy = await startProxy(Number(new URL(target.url).port));
    t.after(() => proxy.close());
    const done = proxy.cutAt("commit\0", cut);
    const told = /lost|cannot be used/;
    await assert.rejects(copy(source, { kind: "postgres", url: proxy.urlOf(target.url) }), told);
    await done;
    const { checksum, resumedAt } = await copy(source, target);
    assert.ok(resumedAt > 5);
    assert.equal(checksum, (await copy(source, straight)).checksum);
  });
}
