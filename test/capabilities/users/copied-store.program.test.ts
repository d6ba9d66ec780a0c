/** A copy of a store has the accounts of its source, and no session. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  accountsName,
  sessionsName,
  ticketsName,
  UserRecords,
} from "../../../src/capabilities/users/user-records.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { put } from "../../../src/records.ts";
import { openStore } from "../../../src/store/open.ts";
import { recordOf } from "../../../src/store/port/record.ts";
import { run } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";

test("a copy has the accounts of its source, and neither sessions nor tickets", async (t) => {
  const place = makeFolder();
  const address = (name: string) => ({ kind: "sqlite", path: join(place, name) }) as const;
  const open = async (name: string) => {
    const store = await openStore(address(name));
    const counts = async () =>
      Promise.all([accountsName, sessionsName, ticketsName].map((each) => store.count(each)));
    return { store, counts };
  };
  const source = await open("source.db");
  await source.store.migrate([recordOf(openCollection("users"))]);
  const records = new UserRecords(source.store, "users");
  const profile = {
    key: { collection: "users", id: "ada" },
    expect: "absent",
    next: '{"id":"ada"}',
  } as const;
  const changes = [
    profile,
    put(accountsName, "ada", undefined, { user: "ada", address: "ada@example.org" }),
    put(sessionsName, "one", undefined, { user: "ada", usedAt: 1 }),
    put(ticketsName, "two", undefined, { address: "ada@example.org" }),
  ];
  await records.commit(changes, 1);
  await source.store.close();
  const args = ["copy", "--from", "sqlite:source.db", "--to", "sqlite:copy.db"];
  const copied = await run(t, args, { cwd: place });
  assert.equal(copied.exitCode, 0, copied.stderr);
  assert.match(copied.stdout + copied.stderr, /ended 1 session of the copy/);
  const copy = await open("copy.db");
  assert.deepEqual(await copy.counts(), [1, 0, 0]);
  await copy.store.close();
  const after = await open("source.db");
  assert.deepEqual(await after.counts(), [1, 1, 1]);
  await after.store.close();
});
