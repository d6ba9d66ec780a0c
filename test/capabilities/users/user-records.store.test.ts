/** After a store was copied or restored, nobody is signed in any more, and everybody still has an account. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accountsName,
  endAllSessions,
  sessionsName,
  ticketsName,
  UserRecords,
} from "../../../src/capabilities/users/user-records.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { put } from "../../../src/records.ts";
import { recordOf } from "../../../src/store/port/record.ts";
import { openSqliteFixture } from "../../store/sqlite-fixture.ts";

test("all sessions and tickets end, also many, and accounts stay", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  assert.equal(await endAllSessions(store, 1), 0);
  await store.migrate([recordOf(openCollection("users"))]);
  const records = new UserRecords(store, "users");
  const profile = {
    key: { collection: "users", id: "ada" },
    expect: "absent",
    next: '{"id":"ada"}',
  } as const;
  const account = put(accountsName, "ada", undefined, { user: "ada", address: "ada@example.org" });
  await records.commit([profile, account], 1);
  const many = (name: string, more: object) =>
    records.commit(
      Array.from({ length: 1_100 }, (_, n) => put(name, `${name}${n}`, undefined, { ...more, usedAt: n })),
      1,
    );
  await many(sessionsName, { user: "ada" });
  await many(ticketsName, { address: "ada@example.org" });
  assert.equal(await endAllSessions(store, 2), 1_100);
  assert.equal(await store.count(sessionsName), 0);
  assert.equal(await store.count(ticketsName), 0);
  assert.equal(await store.count(accountsName), 1);
});

test("the waiting mails to a user are found, and those to others are not", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([recordOf(openCollection("users"))]);
  const records = new UserRecords(store, "users");
  const users = ["ada", "bob"].map((id) => put("users", id, undefined, { id }));
  const mails = [{ user: "ada" }, { user: "bob" }, {}, { user: "ada" }].map((mail, n) =>
    put("_mail", `m${n}`, undefined, mail),
  );
  await records.commit([...users, ...mails], 1);
  await records.commit(await records.mailsTo("ada"), 2);
  const left = await records.list<{ id: string }>({ collection: "_mail", limit: 10 });
  assert.deepEqual(
    left.records.map(({ value }) => value.id),
    ["m1", "m2"],
  );
});
