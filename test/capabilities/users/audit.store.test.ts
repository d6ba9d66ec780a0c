/** What the audit keeps, for how long, and what it forgets. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { Audit, type AuditSettings, eraseFromAudit } from "../../../src/capabilities/users/audit.ts";
import { UserRecords } from "../../../src/capabilities/users/user-records.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { createUuidSource } from "../../../src/collection/uuids.ts";
import { recordOf } from "../../../src/store/port/record.ts";
import { openSqliteFixture } from "../../store/sqlite-fixture.ts";

const dayMs = 86_400_000;
const source = { shownNetwork: "192.0.2.0/24", agent: "Browser/1", request: "r" };

/** An audit on a store of its own. */
async function open(t: TestContext, settings: Partial<AuditSettings> = {}) {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([recordOf(openCollection("users"))]);
  const records = new UserRecords(store, "users");
  const openAudit = () =>
    new Audit({
      records,
      settings: { keepDays: 30, keepBytes: 1e9, ...settings },
      mac: (text) => hash("sha256", text, "base64url"),
      newUuid: createUuidSource(() => open.now),
      clock: { now: () => open.now },
    });
  const audit = openAudit();
  const write = (count: number, subject: string) =>
    records.commit(
      Array.from({ length: count }, () => audit.entry({ kind: "signIn", subject, email: subject }, source)),
      open.now,
    );
  const all = async () => (await audit.list({ limit: 1_000 })).entries;
  return { store, records, audit, openAudit, write, all };
}
open.now = 100 * dayMs;

test("entries that are too old are removed, also many", async (t) => {
  const { audit, write, all, records } = await open(t);
  await audit.sweep();
  await write(1_300, "old");
  open.now += 29 * dayMs;
  await write(2, "new");
  await audit.sweep();
  assert.equal(await records.count("_audit"), 1_302);
  open.now += 2 * dayMs;
  await audit.sweep();
  assert.deepEqual(
    (await all()).map(({ subject }) => subject),
    ["new", "new"],
  );
});

test("the oldest entries are removed until the others fit", async (t) => {
  const { audit, write, all, store } = await open(t, { keepBytes: 20_000 });
  await write(200, "old");
  open.now += 1_000;
  await write(40, "new");
  await audit.sweep();
  const left = await all();
  const bytes = left.reduce((sum, entry) => sum + entry.bytes, 0);
  assert.ok(bytes <= 20_000 && bytes > 19_000, `${bytes} bytes`);
  assert.equal(left.filter(({ subject }) => subject === "new").length, 40);
  const { items } = await store.list({ collection: "_audit", limit: 1 });
  const [first] = items;
  assert.ok(
    first && Math.abs(first.text.length - 62 - JSON.parse(first.text).bytes) < 30,
    "bytes are those of the text",
  );
});

test("what is refused at the same time is one entry with its number, also from two instances", async (t) => {
  const { audit, all, openAudit } = await open(t);
  const other = openAudit();
  const refused = { kind: "refusal", result: "refused", policy: "password-network" } as const;
  const counts = Array.from({ length: 50 }, (_, n) =>
    (n % 2 === 0 ? audit : other).count(refused, source, "192.0.2.1"),
  );
  await Promise.all([...counts, audit.count(refused, source, "192.0.2.2")]);
  assert.deepEqual((await all()).map(({ count }) => count).sort(), [1, 50]);
});

test("an erasure removes the address, the network and the browser of one user, and keeps the rest", async (t) => {
  const { audit, write, all, store, records } = await open(t);
  await write(600, "ada");
  await write(1, "bob");
  const invited = audit.entry({ kind: "invitation", email: "ada@example.org" }, { actor: "root" });
  const removed = audit.entry({ kind: "accountDeleted", subject: "bob" }, { ...source, actor: "ada" });
  await records.commit([invited, removed], open.now);
  const erased = { user: "ada", email: "ada@example.org", at: open.now };
  assert.equal(await eraseFromAudit(store, erased), 602);
  for (const entry of await all()) {
    const isBobs = entry.subject === "bob" && entry.actor === undefined;
    assert.deepEqual(
      [entry.email, entry.network, entry.agent],
      isBobs ? ["bob", "192.0.2.0/24", "Browser/1"] : [undefined, undefined, undefined],
    );
    assert.equal(entry.at, open.now);
  }
  assert.equal((await audit.list({ subject: "ada", limit: 1_000 })).entries.length, 600);
  assert.equal(await eraseFromAudit(store, erased), 0);
});
