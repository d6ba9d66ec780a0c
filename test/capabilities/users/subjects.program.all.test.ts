/** The id of an account is no subject of an API key, also where the commands make or replace it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { addKey } from "../../../src/access/api-key.ts";
import { accountsName, UserRecords } from "../../../src/capabilities/users/user-records.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { put } from "../../../src/records.ts";
import { openKeys, openStore } from "../../../src/store/open.ts";
import { recordOf } from "../../../src/store/port/record.ts";
import { configuration, run } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { machineTime } from "../../until.ts";

test("a command makes and replaces no key of a user, and check names those that exist", async (t) => {
  const users = { collection: "users", signUp: "closed" };
  const settings = configuration({ users: { schema: {} } }, { auth: { keys: true, users } });
  const cwd = makeFolder(settings);
  const address = { kind: "sqlite", path: join(cwd, "holdfast.db") } as const;
  const store = await openStore(address);
  await store.migrate([recordOf(openCollection("users"))]);
  const profile = {
    key: { collection: "users", id: "ada" },
    expect: "absent",
    next: '{"id":"ada"}',
  } as const;
  const account = put(accountsName, "ada", undefined, { user: "ada", address: "ada@example.org" });
  await new UserRecords(store, "users").commit([profile, account], 1);
  await store.close();
  const properties = { name: "spy", subject: "ada", roles: [], scopes: undefined, expiresAt: undefined };
  const keys = await openKeys(address);
  const { key } = await addKey(keys, properties, machineTime());
  await keys.close();
  for (const args of [
    ["create", "--name", "other", "--subject", "ada"],
    ["create", "--name", "ada"],
    ["rotate", "spy"],
  ]) {
    const outcome = await run(t, ["keys", ...args], { cwd });
    assert.equal(outcome.exitCode, 1, args.join(" "));
    assert.match(outcome.stderr, /The subject is the id of a user of this service/);
  }
  const made = await run(t, ["keys", "create", "--name", "program"], { cwd });
  assert.equal(made.exitCode, 0, made.stderr);
  const checked = await run(t, ["check"], { cwd });
  const expected = `warning: API key "spy" (${key.prefix}): the service refuses requests with it, because its subject is the id of a user`;
  assert.ok(checked.stdout.includes(expected), checked.stdout);
});
