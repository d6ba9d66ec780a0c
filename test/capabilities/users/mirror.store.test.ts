/** The changes of profiles that come with changes of their accounts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Mirror } from "../../../src/capabilities/users/mirror.ts";
import { UserRecords } from "../../../src/capabilities/users/user-records.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { Problem } from "../../../src/errors.ts";
import { recordOf } from "../../../src/store/port/record.ts";
import { openSqliteFixture } from "../../store/sqlite-fixture.ts";

test("the commit of a new account notices that its profile has changed, also if the profile shows the account already", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  const users = openCollection("users");
  await store.migrate([recordOf(users)]);
  const records = new UserRecords(store, "users");
  const mirror = new Mirror({ store, records }, { mirror: { email: "email" } }, () => users);
  const key = { collection: "users", id: "ada" };
  const profile = (email: string) => JSON.stringify({ id: "ada", email });
  await store.commit({ changes: [{ key, expect: "absent", next: profile("ada@example.org") }], at: 1 });
  const account = { email: "ada@example.org", roles: [] };
  assert.deepEqual(await mirror.changesFor("ada", account, 2), []);
  const changes = await mirror.changesFor("ada", account, 2, { isNew: true });
  await store.commit({ changes: [{ key, expect: 1, next: profile("bob@example.org") }], at: 3 });
  await assert.rejects(store.commit({ changes, at: 4 }), (error) => {
    return error instanceof Problem && error.code === "PRECONDITION_FAILED";
  });
});
