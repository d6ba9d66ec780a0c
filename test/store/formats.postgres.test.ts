/** Stores of other formats. Every way to open one refuses it and leaves it as it is. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import {
  backUpStore,
  openKeys,
  openReader,
  openSource,
  openStore,
  openTarget,
  type StoreAddress,
} from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";
import { formatNumber as postgresFormat } from "../../src/store/postgres/tables/tables.ts";
import { formatNumber as sqliteFormat } from "../../src/store/sqlite/file/tables.ts";
import { makePlace } from "../copy/places.ts";
import { refusal } from "../copy/run.ts";
import { makeFolder } from "../folder.ts";
import { openBelow } from "../http/below.ts";
import { commit, created, declaration, topic } from "./contract/fixture.ts";

const formats = { sqlite: sqliteFormat, postgres: postgresFormat };

/** Every way to open a store. */
function waysToOpen(address: StoreAddress, backup: string): Record<string, () => Promise<object>> {
  return {
    store: () => openStore(address),
    "read-only store": () => openStore(address, { readOnly: true }),
    reader: () => openReader(address),
    keys: () => openKeys(address),
    "source of a copy": () => openSource(address),
    "target of a copy": () => openTarget(address),
    backup: () => backUpStore(address, backup, {}),
  };
}

async function setFormat(address: StoreAddress, format: number): Promise<void> {
  const below = await openBelow(address);
  await below.run(`update ${below.table("meta")} set value = ${format} where name = 'format'`);
  await below.close();
}

async function formatOf(address: StoreAddress): Promise<unknown> {
  const below = await openBelow(address);
  const { value } = await below.first(`select value from ${below.table("meta")} where name = 'format'`);
  await below.close();
  return value;
}

async function makeStore(t: TestContext, kind: StoreAddress["kind"]): Promise<StoreAddress> {
  const address = await makePlace(t, kind);
  const store = await openStore(address);
  await store.migrate([declaration("topics")]);
  await commit(store, [created(topic("a"))]);
  await store.close();
  return address;
}

for (const kind of ["sqlite", "postgres"] as const)
  describe(`a store in ${kind}`, () => {
    const own = formats[kind];
    for (const [what, format, advice] of [
      ["an older", own - 1, `never released.*"npx holdfast export".*import`],
      ["a newer", own + 1, `newer version.*Use that version or a later one\\.$`],
    ] as const)
      test(`of ${what} format is refused with both numbers and advice, and stays as it is`, async (t) => {
        const address = await makeStore(t, kind);
        const folder = makeFolder();
        await setFormat(address, format);
        const bytes = () => (address.kind === "sqlite" ? readFileSync(address.path) : undefined);
        const before = bytes();
        const ways = Object.entries(waysToOpen(address, join(folder, "backup.db")));
        const isRefused = refusal(RegExp(`has format ${format}, .* reads format ${own}\\. .*${advice}`));
        for (const [way, open] of ways) {
          const opened = await open().catch(isRefused);
          if (typeof opened !== "object") continue;
          if ("close" in opened && typeof opened.close === "function") await opened.close();
          assert.fail(`${way}: not refused`);
        }
        assert.deepEqual(bytes(), before);
        assert.equal(await formatOf(address), format);
        await setFormat(address, own);
        const store = await openStore(address);
        assert.equal(await store.count("topics"), 1);
        await store.close();
      });
  });

test("an instance that still runs after a newer version has changed the tables writes nothing more", async (t) => {
  const address = await makeStore(t, "postgres");
  const store = await openStore(address);
  t.after(() => store.close());
  const below = await openBelow(address);
  t.after(() => below.close());
  const note = declaration("notes");
  const attempts: Record<string, () => Promise<unknown>> = {
    "a write": () => commit(store, [created(topic("b"))]),
    "an import": () => imported(store),
    "an erasure": () => store.erase(topic("a")),
    "a new collection": () => store.migrate([note]),
    "an import into a new collection": () => store.load(note),
  };
  // What every change of the format does, in one transaction.
  await below.run(`begin; update holdfast_meta set value = value + 1 where name = 'format';
    update holdfast_heads set declared = declared + 1; commit`);
  for (const [what, attempt] of Object.entries(attempts))
    await assert.rejects(attempt, { code: "UNAVAILABLE", message: /another version of Holdfast/i }, what);
  const { ids, notes } = await below.first(
    "select string_agg(key, ' ') as ids, to_regclass('holdfast_resources_2') as notes from holdfast_resources_1",
  );
  assert.deepEqual([ids, notes], ["a", null]);
});

test("an instance that still runs on an empty store that a newer version has changed creates no collection", async (t) => {
  const address = await makePlace(t, "postgres");
  const store = await openStore(address);
  t.after(() => store.close());
  await setFormat(address, postgresFormat + 1);
  await assert.rejects(store.migrate([declaration("notes")]), { code: "UNAVAILABLE" });
  const below = await openBelow(address);
  t.after(() => below.close());
  assert.equal((await below.first("select to_regclass('holdfast_resources_1') as notes")).notes, null);
});

async function imported(store: Store): Promise<void> {
  const load = await store.load("topics");
  await load.add([{ id: "b", text: '{"id":"b"}' }]);
  await load.finish();
}
