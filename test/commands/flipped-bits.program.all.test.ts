/**
 * Stores in which the disk has changed one bit. Each bit is changed in a copy of its own. `holdfast check` names what a service cannot
 * serve as it was written.
 */
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { StartError } from "../../src/errors.ts";
import { openReader, openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";
import { makeFolder } from "../folder.ts";
import { generator } from "../seed.ts";
import { at, commit, created, declaration, deleted, topic, updated } from "../store/contract/fixture.ts";

const bits = Number(process.env.HOLDFAST_TEST_BITS ?? 25);

const ids = Array.from({ length: 60 }, (_, n) => `t${n}`);

test("a check names each store that a service cannot serve rightly, and never ends with a stack", async (t) => {
  const folder = makeFolder();
  const whole = join(folder, "whole.db");
  await write(whole);
  const expected = await readAll(whole);
  const bytes = readFileSync(whole);
  const random = generator();
  const outcomes = new Map<string, number>();
  for (let n = 0; n < bits; n++) {
    const path = join(folder, "damaged.db");
    let place = 0;
    do place = Math.floor(random() * bytes.length);
    while (bytes[place] === 0); // a zero is probably free space
    const bit = Math.floor(random() * 8);
    const damaged = Buffer.from(bytes);
    damaged[place] = (damaged[place] as number) ^ (1 << bit);
    writeFileSync(path, damaged);
    const where = `bit ${bit} of the byte ${place}`;
    const found = await check(path, where);
    const served = await readAll(path);
    const isServed = isDeepStrictEqual(served, expected);
    const differing = Object.keys(expected).filter(
      (name) => !isDeepStrictEqual(served[name], expected[name]),
    );
    assert.ok(isServed || found.length > 0, `${where}: ${differing.join(", ")}`);
    const outcome = `${isServed ? "served" : "not served"}, ${found.length > 0 ? "named" : "not named"}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    for (const ending of ["", "-wal", "-shm", ".lock"]) rmSync(path + ending, { force: true });
  }
  t.diagnostic(JSON.stringify([...outcomes]));
});

/** What `holdfast check` says about damage. Any error but a StartError would end the command with a stack. */
async function check(path: string, where: string): Promise<string[]> {
  const found: string[] = [];
  try {
    const reader = await openReader({ kind: "sqlite", path });
    try {
      if (await reader.findDamage((text) => found.push(text))) return found;
      for (const name of reader.collections().keys()) for await (const _ of reader.scan(name));
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (!(error instanceof StartError))
      throw new Error(`${where}: the check ends with a stack`, { cause: error });
    found.push((error as Error).message);
  }
  return found;
}

/** Everything that a service serves, by its name. An error is the text of its name. */
async function readAll(path: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  let store: Store;
  try {
    store = await openStore({ kind: "sqlite", path }, { sweepMs: Number.POSITIVE_INFINITY });
  } catch (error) {
    return { open: String(error) };
  }
  const ask = async (name: string, read: () => unknown) => {
    try {
      answers[name] = await read();
    } catch (error) {
      answers[name] = String(error);
    }
  };
  for (const id of ids) {
    await ask(`read ${id}`, () => store.read(topic(id)));
    await ask(`last version of ${id}`, () => store.lastVersion(topic(id)));
    await ask(`first version of ${id}`, () => store.version(topic(id), 1));
    await ask(`changes of ${id}`, () => store.changesOf(topic(id), { before: 99, limit: 99 }));
  }
  const topics = { collection: "topics", limit: 99 };
  await ask("list", () => store.list(topics));
  await ask("sorted", () => store.list({ ...topics, sort: [{ path: ["n"], descending: true }] }));
  await ask("search", () => store.list({ ...topics, words: ["title"] }));
  await ask("past", () => store.list({ ...topics, at: at + 70 }));
  await ask("log", () => store.changesAfter("topics", 0, 999));
  await ask("heads", async () => [...(await store.logHeads(["topics"]))]);
  await ask("receipts", () => Promise.all(ids.map((id) => store.receipt(`POST ${id}`, at))));
  await ask("keys", () => store.keys.all());
  await ask("secret", async () => (await store.secret()).toString("hex"));
  await store.close().catch(() => {});
  return answers;
}

/** Writes a store with everything that a store can have. */
async function write(path: string): Promise<void> {
  const store = await openStore({ kind: "sqlite", path }, { history: "forever" });
  await store.migrate([
    declaration("topics", {
      indexes: [[{ path: ["n"], descending: false }]],
      search: [["title"]],
      unique: [{ path: ["m"], ignoreCase: false }],
      references: [{ path: ["of"], collection: "topics", onDelete: "clear" }],
    } as never),
  ]);
  for (const [n, id] of ids.entries()) {
    const attributes = { n, m: n, title: `the title of ${id}`, of: ids[Math.max(0, n - 1)] };
    const receipt = { key: `POST ${id}`, fingerprint: "f", answer: "{}", expiresAt: at * 2 };
    await commit(store, [created(topic(id), attributes)], { at: at + n, receipt });
  }
  for (const [n, id] of ids.entries()) {
    if (n % 3 === 1)
      await commit(store, [updated(topic(id), 1, { n: -n, m: -n - 1, title: "a new title" })], {
        at: at + 100 + n,
      });
    if (n % 3 === 2) await commit(store, [deleted(topic(id), 1)], { at: at + 100 + n }).catch(() => {});
  }
  await store.keys.add({
    prefix: "p",
    hash: "h",
    name: "ada",
    subject: "ada",
    roles: ["reader"],
    scopes: undefined,
    createdAt: at,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
  });
  await store.close();
}
