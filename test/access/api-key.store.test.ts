/** New API keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { addKey } from "../../src/access/api-key.ts";
import type { ApiKey } from "../../src/store/port/keys.ts";
import { openSqliteFixture } from "../store/sqlite-fixture.ts";

const wish = {
  name: "deploy",
  subject: "deploy",
  roles: [],
  scopes: undefined,
  expiresAt: undefined,
};

test("a new key whose prefix is taken is made anew, and the other key stays as it is", async (t) => {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  const { keys } = store;
  const first = await addKey(keys, wish, 1);
  let isTaken = true;
  const add = (key: ApiKey) => {
    const prefix = isTaken ? first.key.prefix : key.prefix;
    isTaken = false;
    return keys.add({ ...key, prefix });
  };
  const second = await addKey({ add }, wish, 2);
  assert.deepEqual(await keys.all(), [first.key, second.key]);
});
