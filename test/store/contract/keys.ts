import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiKey } from "../../../src/store/port/keys.ts";
import { at, commit, created, type OpenFixture, onStore, topic } from "./fixture.ts";

/** A key that differs from others by its prefix. */
function keyOf(prefix: string, more: Partial<ApiKey> = {}): ApiKey {
  return {
    prefix,
    hash: `hash of ${prefix}`,
    name: "deploy",
    subject: "kim",
    roles: ["editor", 'a "quoted" röle'],
    scopes: ["articles:write", "articles:read"],
    createdAt: at,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
    ...more,
  };
}

export function keysContract(open: OpenFixture): void {
  test(
    "a key is found by its prefix as it was added, also after reopening, and nothing by another prefix",
    onStore(open, async ({ keys }, reopen) => {
      const full = keyOf("hf_b", { expiresAt: at + 9, revokedAt: at + 8, lastUsedAt: at + 7 });
      const bare = keyOf("hf_a", { roles: [], scopes: undefined });
      const narrow = keyOf("hf_c", { scopes: [] });
      for (const key of [full, bare, narrow]) assert.equal(await keys.add(key), true);
      const again = await reopen();
      for (const key of [full, bare, narrow]) assert.deepEqual(await again.keys.find(key.prefix), key);
      for (const prefix of ["hf_", "hf_B", "hf_a' or ''='", ""])
        assert.equal(await again.keys.find(prefix), undefined);
    }),
  );

  test(
    "all keys come with the oldest first, ended ones too",
    onStore(open, async ({ keys }) => {
      assert.deepEqual(await keys.all(), []);
      const [old, young, ended] = [
        keyOf("hf_z", { createdAt: at - 1 }),
        keyOf("hf_a"),
        keyOf("hf_b", { revokedAt: at }),
      ];
      for (const key of [ended, young, old]) await keys.add(key);
      assert.deepEqual(await keys.all(), [old, young, ended]);
    }),
  );

  test(
    "a key whose prefix is taken is not added",
    onStore(open, async ({ keys }) => {
      await keys.add(keyOf("hf_a"));
      assert.equal(await keys.add(keyOf("hf_a", { hash: "another", subject: "mallory" })), false);
      assert.deepEqual(await keys.all(), [keyOf("hf_a")]);
    }),
  );

  test(
    "the end of a key comes nearer and never goes away",
    onStore(open, async ({ keys }) => {
      await keys.add(keyOf("hf_a"));
      await keys.add(keyOf("hf_b"));
      const endsOf = async (prefix: string) => {
        const key = await keys.find(prefix);
        return [key?.expiresAt, key?.revokedAt];
      };
      await keys.invalidate("hf_a", { expiresAt: at + 10 });
      assert.deepEqual(await endsOf("hf_a"), [at + 10, undefined]);
      await keys.invalidate("hf_a", { expiresAt: at + 20 });
      assert.deepEqual(await endsOf("hf_a"), [at + 10, undefined]);
      await keys.invalidate("hf_a", { expiresAt: at + 5 });
      await keys.invalidate("hf_a", { revokedAt: at + 3 });
      await keys.invalidate("hf_a", { revokedAt: at + 4 });
      assert.deepEqual(await endsOf("hf_a"), [at + 5, at + 3]);
      assert.deepEqual(await endsOf("hf_b"), [undefined, undefined]);
      await keys.invalidate("hf_none", { revokedAt: at });
      assert.equal(await keys.find("hf_none"), undefined);
    }),
  );

  test(
    "the last use of a key is the latest that was noted",
    onStore(open, async ({ keys }) => {
      await keys.add(keyOf("hf_a"));
      for (const time of [at + 5, at + 9, at + 7]) await keys.noteUse("hf_a", time);
      assert.deepEqual(await keys.find("hf_a"), keyOf("hf_a", { lastUsedAt: at + 9 }));
      await keys.noteUse("hf_none", at);
    }),
  );

  test(
    "keys are none of the resources: writes go on as they did, and no sequence moves",
    onStore(open, async (store) => {
      await commit(store, [created(topic("a"))]);
      await Promise.all([
        ...Array.from({ length: 20 }, (_, n) => store.keys.add(keyOf(`hf_${n}`))),
        ...Array.from({ length: 20 }, (_, n) => commit(store, [created(topic(`t${n}`))])),
      ]);
      assert.equal((await store.keys.all()).length, 20);
      assert.equal(await store.count("topics"), 21);
      assert.equal((await store.list({ collection: "topics", limit: 1 })).sequence, 21);
    }),
  );
}
