/** Several instances on a database that reports the rows offered by an insert, not the rows inserted, as clusters can. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Problem } from "../../src/errors.ts";
import { openStore } from "../../src/store/open.ts";
import type { ApiKey } from "../../src/store/port/keys.ts";
import type { Store } from "../../src/store/port/store.ts";
import { commit, created, declaration, topic } from "../store/contract/fixture.ts";
import { machineTime } from "../until.ts";
import { openDatabase, query } from "./databases.ts";
import { type OfferingProxy, startOfferingProxy } from "./offering-proxy.ts";

interface Pair {
  url: string;
  proxy: OfferingProxy;
  stores: readonly [Store, Store];
}

/** Two stores on one database, behind the proxy. */
async function openPair(t: TestContext): Promise<Pair> {
  const { url, releaseLater } = await openDatabase();
  const proxy = await startOfferingProxy(Number(new URL(url).port));
  const open = () => openStore({ kind: "postgres", url: proxy.urlOf(url) });
  const stores = [await open(), await open()] as const;
  t.after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await proxy.close();
    releaseLater();
  });
  await stores[0].migrate([declaration("topics")]);
  for (const store of stores) await store.count("topics"); // each knows the collection
  return { url, proxy, stores };
}

/** Does the work on both stores at once. Returns how many succeeded, and the codes of the refusals. */
async function race(
  stores: readonly Store[],
  work: (store: Store, n: number) => readonly Promise<unknown>[],
): Promise<{ successes: number; codes: string[] }> {
  const ended = await Promise.allSettled(stores.flatMap(work));
  const codes = ended.flatMap((each) =>
    each.status === "rejected" ? [(each.reason as Problem).code ?? String(each.reason)] : [],
  );
  return { successes: ended.length - codes.length, codes };
}

const rounds = 5;

test("of creates with the same id at the same time, one succeeds and the other is refused", async (t) => {
  const { url, proxy, stores } = await openPair(t);
  const ids = ["a", "b", "c", "d", "e", "f", "g"];
  for (let round = 0; round < rounds; round++) {
    proxy.meetAt("insert into holdfast_resources", 2);
    const { successes, codes } = await race(stores, (store) =>
      ids.map((id) => commit(store, [created(topic(`${round}-${id}`))])),
    );
    assert.deepEqual([successes, codes], [ids.length, ids.map(() => "PRECONDITION_FAILED")]);
  }
  assert.ok(proxy.changed >= rounds, "the proxy changed what the database reports");
  const { rows } = await query(
    url,
    `select sequence::int, count::int, (select count(*)::int from holdfast_resources_1) as resources,
      (select count(*)::int from holdfast_changes_1) as changes from holdfast_heads`,
  );
  const all = rounds * ids.length;
  assert.deepEqual({ ...rows[0] }, { sequence: all, count: all, resources: all, changes: all });
});

test("a commit with many new resources is refused if one of them exists meanwhile", async (t) => {
  const { proxy, stores } = await openPair(t);
  const many = Array.from({ length: 300 }, (_, n) => String(n));
  proxy.meetAt("insert into holdfast_resources", 2);
  const { successes, codes } = await race(stores, (store, n) => [
    commit(
      store,
      [...many.map((id) => `${n}-${id}`), "shared"].map((id) => created(topic(id))),
    ),
  ]);
  assert.deepEqual([successes, codes], [1, ["PRECONDITION_FAILED"]]);
  assert.equal(await stores[0].count("topics"), 301);
});

test("of creates with the same Idempotency-Key at the same time, one succeeds and the other is refused", async (t) => {
  const { proxy, stores } = await openPair(t);
  const expiresAt = machineTime() + 3_600_000;
  for (let round = 0; round < rounds; round++) {
    proxy.meetAt("insert into holdfast_receipts", 2);
    const receipt = { key: `key ${round}`, fingerprint: "", answer: "", expiresAt };
    const { successes, codes } = await race(stores, (store, n) => [
      commit(store, [created(topic(`${round}-${n}`))], { receipt, at: machineTime() }),
    ]);
    assert.deepEqual([successes, codes], [1, ["IDEMPOTENCY_KEY_REUSED"]]);
  }
  assert.equal(await stores[0].count("topics"), rounds);
});

test("of two API keys with the same prefix, one is added", async (t) => {
  const { stores } = await openPair(t);
  const key: ApiKey = {
    prefix: "p",
    hash: "h",
    name: "ada",
    subject: "ada",
    roles: [],
    scopes: undefined,
    createdAt: 1,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
  };
  const added = await Promise.all(stores.map((store) => store.keys.add(key)));
  assert.deepEqual(added.sort(), [false, true]);
});
