/** API keys beside an open store, as the command line changes them while a service runs. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { StartError } from "../../src/errors.ts";
import { openKeys } from "../../src/store/open.ts";
import type { ApiKey } from "../../src/store/port/keys.ts";
import { makeFolder } from "../folder.ts";
import { commit, created, declaration, topic } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

function keyOf(prefix: string): ApiKey {
  return {
    prefix,
    hash: "h",
    name: "n",
    subject: "kim",
    roles: [],
    scopes: undefined,
    createdAt: 1,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
  };
}

test("keys made and revoked beside an open store are seen by it at once, while it writes", async (t) => {
  const { store, path, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([declaration("topics")]);
  const beside = await openKeys({ kind: "sqlite", path });
  t.after(() => beside.close());
  let isOver = false;
  let written = 0;
  const writing = (async () => {
    while (!isOver) await commit(store, [created(topic(`t${written++}`))]);
  })();
  for (let n = 0; n < 50; n++) {
    await beside.add(keyOf(`hf_${n}`));
    assert.equal((await store.keys.find(`hf_${n}`))?.revokedAt, undefined);
    await beside.invalidate(`hf_${n}`, { revokedAt: 5 });
    assert.equal((await store.keys.find(`hf_${n}`))?.revokedAt, 5);
    await store.keys.noteUse(`hf_${n}`, 7);
    assert.equal((await beside.find(`hf_${n}`))?.lastUsedAt, 7);
  }
  isOver = true;
  await writing;
  assert.equal(await store.count("topics"), written);
});

test("keys of what is no store, or is locked by another program, are refused in one line", async () => {
  const folder = makeFolder();
  const text = join(folder, "text.db");
  writeFileSync(text, "this is no database, and it is longer than the header of one would be. ".repeat(20));
  await assert.rejects(openKeys({ kind: "sqlite", path: text }), StartError);
  const foreign = join(folder, "foreign.db");
  const database = new DatabaseSync(foreign);
  database.exec("create table t (a)");
  database.close();
  await assert.rejects(openKeys({ kind: "sqlite", path: foreign }), /another program\. Choose another store/);
});
