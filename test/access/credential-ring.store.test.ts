/** API keys are known again, and no longer than they should be. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { createKeyText, prefixOf } from "../../src/access/api-key.ts";
import { CredentialRing, hashCredential } from "../../src/access/credential-ring.ts";
import { keyCredentials } from "../../src/access/key-credentials.ts";
import { openKeys } from "../../src/store/open.ts";
import type { ApiKey } from "../../src/store/port/keys.ts";
import { PlanRunner, storePlans } from "../../src/store/sqlite/sqlite-dialect.ts";
import { openSqliteFixture } from "../store/sqlite-fixture.ts";
import { refuses } from "./check.ts";

const start = Date.UTC(2026, 10, 21, 9, 30);
const hour = 3_600_000;

async function open(t: TestContext) {
  const { store, path, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  let elapsed = 0;
  let reads = 0;
  const keys = store.keys;
  const counted = Object.assign(Object.create(keys), {
    find: (prefix: string) => {
      reads++;
      return keys.find(prefix);
    },
    noteUse: (prefix: string, at: number) => keys.noteUse(prefix, at),
  });
  const ring = new CredentialRing(keyCredentials(counted), {
    now: () => start + elapsed,
    elapsed: () => elapsed,
  });
  return {
    ring,
    store,
    path,
    reads: () => reads,
    wait: (ms: number) => {
      elapsed += ms;
    },
    async make(more: Partial<ApiKey> = {}): Promise<string> {
      const text = createKeyText();
      await keys.add({ ...keyOf(text), ...more });
      return text;
    },
  };
}

function keyOf(text: string): ApiKey {
  const hash = hashCredential(text).toString("base64url");
  const common = { prefix: prefixOf(text), hash, name: "n", subject: "kim", roles: ["editor"] };
  const ends = { expiresAt: undefined, revokedAt: undefined, lastUsedAt: undefined };
  return { ...common, scopes: undefined, createdAt: start, ...ends };
}

test("keys have a public prefix and a secret of 256 bits, and no two are alike", () => {
  const keys = Array.from({ length: 1_000 }, createKeyText);
  for (const key of keys) assert.match(key, /^hf_[0-9a-z]{8}_[0-9a-z]{50}$/);
  assert.equal(new Set(keys).size, keys.length);
  const secrets = keys.map((key) => key.slice(-50));
  assert.ok(
    new Set(secrets.map(([first]) => first)).size >= 6,
    "36 ** 50 is 5.6 times 2 ** 256, so the first digit is 0 to 6",
  );
});

test("a key is known with what its maker said of its holder", async (t) => {
  const { ring, make } = await open(t);
  const plain = await make();
  assert.deepEqual(await ring.principalOf(plain), {
    subject: "kim",
    key: prefixOf(plain),
    roles: ["editor"],
    claims: {},
    scopes: undefined,
  });
  const narrow = await make({ scopes: ["articles:read", "nonsense"] });
  const { scopes } = await ring.principalOf(narrow);
  assert.deepEqual(scopes, [{ collection: "articles", action: "read" }]);
});

test("what is not exactly a key is refused, and known keys stay as they are", async (t) => {
  const { ring, make } = await open(t);
  const key = await make();
  const other = await make();
  const last = key.at(-1) === "0" ? "1" : "0";
  const wrong = [
    `${key.slice(0, -1)}${last}`,
    key.slice(0, -1),
    `${key}0`,
    key.toUpperCase(),
    `${prefixOf(key)}${other.slice(11)}`,
    createKeyText(),
    "hf_",
    `hf_' or ''='_${key.slice(14)}`,
    "hf_".padEnd(key.length, "0"),
  ];
  for (const text of wrong)
    await refuses("INVALID_TOKEN", () => ring.principalOf(text), /API key is unknown/);
  for (const text of wrong) await refuses("INVALID_TOKEN", () => ring.principalOf(text));
  assert.equal((await ring.principalOf(key)).subject, "kim");
});

test("a request does not wait for a read that began a second ago and saw the key before it was revoked", async () => {
  let elapsed = 0;
  const text = createKeyText();
  const reads: ((found: ApiKey | undefined) => void)[] = [];
  const find = () => new Promise<ApiKey | undefined>((resolve) => reads.push(resolve));
  const kind = keyCredentials({ find, noteUse: async () => {} } as never);
  const ring = new CredentialRing(kind, { now: () => start + elapsed, elapsed: () => elapsed });
  const before = ring.principalOf(text);
  elapsed += 899;
  const soonAfter = ring.principalOf(text);
  elapsed += 1;
  const after = ring.principalOf(text);
  assert.equal(reads.length, 2);
  reads[1]?.({ ...keyOf(text), revokedAt: start });
  await refuses("INVALID_TOKEN", () => after);
  reads[0]?.(keyOf(text));
  assert.equal((await before).subject, "kim");
  assert.equal((await soonAfter).subject, "kim");
  const later = ring.principalOf(text);
  reads[2]?.(undefined);
  await refuses("INVALID_TOKEN", () => later);
});

test("a key that is used all the time is looked up about once a second", async (t) => {
  const { ring, make, reads, wait } = await open(t);
  const key = await make();
  await Promise.all(Array.from({ length: 100 }, () => ring.principalOf(key)));
  assert.equal(reads(), 1);
  assert.equal(ring.principalOf(key) instanceof Promise, false);
  wait(899);
  await ring.principalOf(key);
  assert.equal(reads(), 1);
  wait(1);
  await ring.principalOf(key);
  assert.equal(reads(), 2);
});

test("a key is forgotten when many are used after it, the oldest first", async (t) => {
  const { ring, path, reads } = await open(t);
  const texts = Array.from({ length: 10_001 }, createKeyText);
  const database = new DatabaseSync(path);
  const plans = new PlanRunner(database);
  database.exec("begin immediate");
  for (const text of texts)
    plans.run(storePlans.keys.change({ kind: "add", key: { ...keyOf(text), lastUsedAt: start } }));
  database.exec("commit");
  database.close();
  for (const text of texts) await ring.principalOf(text);
  assert.equal(reads(), 10_001);
  const [oldest = "", second = ""] = texts;
  await ring.principalOf(second);
  assert.equal(reads(), 10_001);
  await ring.principalOf(oldest);
  assert.equal(reads(), 10_002);
});

test("a key that another process revokes is refused within a second", async (t) => {
  const { ring, make, path, wait } = await open(t);
  const key = await make();
  await ring.principalOf(key);
  const beside = await openKeys({ kind: "sqlite", path });
  await beside.invalidate(prefixOf(key), { revokedAt: start - hour });
  await beside.close();
  wait(900);
  await refuses("INVALID_TOKEN", () => ring.principalOf(key), /revoked/);
});

test("a revoked key is refused whatever the clocks say, and an expired one from its time on", async (t) => {
  const { ring, make, wait } = await open(t);
  const revoked = await make({ revokedAt: start + hour });
  await refuses("INVALID_TOKEN", () => ring.principalOf(revoked), /revoked/);
  const short = await make({ expiresAt: start + 500 });
  wait(499);
  await ring.principalOf(short);
  wait(1);
  await refuses("INVALID_TOKEN", () => ring.principalOf(short), /expired/);
});

test("the last use of a key is written once an hour", async (t) => {
  const { ring, make, store, wait } = await open(t);
  const key = await make();
  const notes: number[] = [];
  const keys = store.keys;
  const noteUse = keys.noteUse.bind(keys);
  keys.noteUse = (prefix, at) => {
    notes.push(at);
    return noteUse(prefix, at);
  };
  for (let n = 0; n < 3; n++) {
    for (let m = 0; m < 10; m++) await ring.principalOf(key);
    wait(10 * 60_000);
  }
  assert.deepEqual(notes, [start - 30 * 60_000]);
  await ring.principalOf(key);
  assert.deepEqual(notes, [start - 30 * 60_000, start + 30 * 60_000]);
  await noteUse(prefixOf(key), 0); // written after those before it
  assert.equal((await keys.find(prefixOf(key)))?.lastUsedAt, start + 30 * 60_000);
});

test("a store that fails to note a use fails no request", async (t) => {
  const { ring, make, store } = await open(t);
  const key = await make();
  store.keys.noteUse = () => Promise.reject(new Error("no room"));
  assert.equal((await ring.principalOf(key)).subject, "kim");
});
