/** The secret of a store: made once, checked at each start, and replaced without a loss. On both kinds of stores. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { StartError } from "../../src/errors.ts";
import { openVault, type VaultOptions } from "../../src/open-vault.ts";
import { newSecret, readSecrets, type Vault } from "../../src/secrets.ts";
import { openStore, type StoreAddress } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";
import { makeFolder } from "../folder.ts";
import { openDatabase } from "../postgres/databases.ts";
import { machineTime } from "../until.ts";

const [one, two] = [newSecret(), newSecret()];
const given = (...secrets: string[]) => ({ secrets: secrets.flatMap((each) => readSecrets(each)) });
const place = "_mail/1";

const folder = makeFolder();

const open = (store: Store, more: Partial<VaultOptions>): Promise<Vault> =>
  openVault(store, {
    secrets: [],
    isLocal: true,
    isSqlite: true,
    readOnly: false,
    now: machineTime,
    ...more,
  });

function refusal(text: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StartError, String(error));
    assert.match(error.message, text);
    for (const secret of [one, two]) assert.ok(!error.message.includes(secret));
    return true;
  };
}

const kinds: Record<string, (use: (address: StoreAddress) => Promise<void>) => Promise<void>> = {
  sqlite: (use) => use({ kind: "sqlite", path: join(folder, `${crypto.randomUUID()}.db`) }),
  postgres: async (use) => {
    const { url, release } = await openDatabase();
    await use({ kind: "postgres", url });
    await release();
  },
};

for (const [kind, withAddress] of Object.entries(kinds)) {
  const withStore = (use: (store: Store, reopen: () => Promise<Store>) => Promise<void>) =>
    withAddress(async (address) => {
      let store = await openStore(address);
      await use(store, async () => {
        await store.close();
        store = await openStore(address);
        return store;
      });
      await store.close();
    });

  test(`${kind}: a store that was used with a secret opens with no other one`, () =>
    withStore(async (store, reopen) => {
      const sealed = (await open(store, given(one))).seal("mail", place, "text");
      const again = await reopen();
      assert.equal((await open(again, given(one))).open("mail", place, sealed), "text");
      await assert.rejects(open(again, given(two)), refusal(/^HOLDFAST_SECRET is wrong: .*<new>,<old>/));
      await assert.rejects(open(again, {}), refusal(/^HOLDFAST_SECRET is missing: /));
    }));

  test(`${kind}: a new secret is put before the old one, which can be removed afterwards`, () =>
    withStore(async (store) => {
      const sealed = (await open(store, given(one))).seal("mail", place, "text");
      const rotated = await open(store, given(two, one));
      assert.equal(rotated.open("mail", place, sealed), "text");
      await assert.rejects(open(store, given(one)), refusal(/is wrong/));
      const resealed = rotated.seal("mail", place, "text");
      assert.equal((await open(store, given(two))).open("mail", place, resealed), "text");
    }));

  test(`${kind}: of many that start at once, all get the secret that one of them made`, () =>
    withStore(async (store, reopen) => {
      const vaults = await Promise.all(Array.from({ length: 16 }, () => open(store, {})));
      const macs = new Set(vaults.map((vault) => vault.mac("tries", "x")));
      assert.equal(macs.size, 1);
      assert.deepEqual(new Set([(await open(await reopen(), {})).mac("tries", "x")]), macs);
    }));

  test(`${kind}: of different secrets that start at once, one wins and the others are refused`, () =>
    withStore(async (store) => {
      const starts = Array.from({ length: 8 }, () => open(store, given(newSecret())));
      const results = await Promise.allSettled(starts);
      const refused = results.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      assert.equal(refused.length, 7);
      for (const reason of refused) refusal(/is wrong/)(reason);
    }));

  test(`${kind}: what was sealed with the service's own secret opens when one is given`, () =>
    withStore(async (store, reopen) => {
      const sealed = (await open(store, {})).seal("mail", place, "text");
      const vault = await open(await reopen(), given(one));
      assert.equal(vault.open("mail", place, sealed), "text");
      assert.equal(vault.isCurrent(sealed), false);
    }));

  test(`${kind}: a read-only service changes nothing`, () =>
    withStore(async (store) => {
      const readOnly = { readOnly: true };
      await open(store, readOnly);
      await open(store, { ...given(one), ...readOnly });
      assert.deepEqual(await store.collectionNames(), []);
      const sealed = (await open(store, given(one))).seal("mail", place, "text");
      assert.equal(
        (await open(store, { ...given(two, one), ...readOnly })).open("mail", place, sealed),
        "text",
      );
      await assert.rejects(open(store, { ...given(two), ...readOnly }), refusal(/is wrong/));
      await open(store, given(one));
    }));
}

test("a service that others can reach, and one on PostgreSQL, must be given a secret", () =>
  kinds.sqlite?.(async (address) => {
    const store = await openStore(address);
    const missing = refusal(/^HOLDFAST_SECRET is missing. .*"holdfast secret" prints a value/);
    await assert.rejects(open(store, { isLocal: false }), missing);
    await assert.rejects(open(store, { isSqlite: false }), missing);
    assert.deepEqual(await store.collectionNames(), []);
    await store.close();
  }));
