/** Sessions of users who never come back are removed, and no others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { newSession, sweepSessions } from "../../../src/capabilities/users/sessions.ts";
import {
  accountsName,
  type Session,
  sessionsName,
  UserRecords,
} from "../../../src/capabilities/users/user-records.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { put } from "../../../src/records.ts";
import { recordOf } from "../../../src/store/port/record.ts";
import { openSqliteFixture } from "../../store/sqlite-fixture.ts";

const dayMs = 86_400_000;
const settings = {
  sessions: { idle: 14 * dayMs, absolute: 90 * dayMs, administrators: { idle: dayMs / 24, absolute: dayMs } },
};

test("a regular work removes sessions past their times, and expired keys, also many", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([recordOf(openCollection("users"))]);
  const records = new UserRecords(store, "users");
  let now = 100 * dayMs;
  const origin = { network: "192.0.2.0/24", agent: undefined };
  const profile = {
    key: { collection: "users", id: "ada" },
    expect: "absent",
    next: '{"id":"ada"}',
  } as const;
  await records.commit([profile, put(accountsName, "ada", undefined, { user: "ada", address: "ada" })], now);
  const add = async (count: number, key?: { name: string; expiresAt: number }) => {
    const made = Array.from({ length: count }, () => newSession("ada", origin, now, key));
    await records.commit(
      made.map(({ change }) => change),
      now,
    );
    return made.map(({ session }) => session.id);
  };
  const left = async () => {
    const page = await records.list<Session>({ collection: sessionsName, limit: 2_000 });
    return page.records.map(({ value }) => value.id).sort();
  };
  const sweep = () => sweepSessions({ records, settings, now: () => now });
  await sweep();
  await add(1_100);
  const [kept = ""] = await add(1, { name: "kept", expiresAt: now + 300 * dayMs });
  const [expiring = ""] = await add(1, { name: "short", expiresAt: now + 20 * dayMs });
  now += 13 * dayMs;
  const later = await add(2);
  await sweep();
  assert.equal((await left()).length, 1_104);
  now += 2 * dayMs;
  await sweep();
  assert.deepEqual(await left(), [kept, expiring, ...later].sort());
  now += 6 * dayMs;
  await sweep();
  assert.deepEqual(await left(), [kept, ...later].sort());
  now += 30 * dayMs;
  await sweep();
  assert.deepEqual(await left(), [kept]);
});
