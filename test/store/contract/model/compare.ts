/** Compares the whole content of an idle store with a state, through every method of the store. */
import assert from "node:assert/strict";
import { isAfter, toPlace } from "../../../../src/store/port/log-place.ts";
import type { CollectionRecord } from "../../../../src/store/port/record.ts";
import type { Store } from "../../../../src/store/port/store.ts";
import type { Key, Stored } from "../../../../src/store/port/stored.ts";
import type { Logged } from "./absorb.ts";
import { allIn, type Evidence, toStored } from "./judgement.ts";
import { nameOf, type State } from "./model.ts";

const everything = { before: Number.MAX_SAFE_INTEGER, limit: 1_000_000 };

/** Fails unless the store is in the state, and returns each version in its log. */
export async function requireState(
  store: Store,
  records: readonly CollectionRecord[],
  { state, evidence }: { state: State; evidence: Evidence },
): Promise<void> {
  requireGroups(evidence.log);
  for (const { name: collection } of records) {
    const items = allIn(state, collection);
    const sequence = state.sequences.get(collection) ?? 0;
    const page = await store.list({ collection, limit: 10_000 });
    assert.deepEqual(page, { items, more: false, total: items.length, sequence });
    assert.equal(await store.count(collection), items.length);
    const scanned: Stored[] = [];
    for await (const stored of store.scan(collection)) scanned.push(stored);
    assert.deepEqual(scanned, items);
    const half = Math.floor(sequence / 2);
    const later = evidence.log
      .filter((row) => row.collection === collection && isAfter(row.sequence, toPlace(half)))
      .slice(0, 3);
    const rows = (await store.changesAfter(collection, toPlace(half), 3)).changes;
    assert.deepEqual(
      rows.map((row) => ({ ...row, collection })),
      later,
    );
  }
  const histories = Map.groupBy(evidence.log, nameOf);
  for (const [name, changes] of histories) await requireHistory(store, changes, toStored(state, name));
}

/** No two commits share a group. */
function requireGroups(log: readonly Logged[]): void {
  const principals = new Map<number, string | undefined>();
  for (const { group, principal } of log) {
    if (group === undefined) continue;
    assert.equal(principals.get(group) ?? principal, principal, `two commits are in group ${group}`);
    principals.set(group, principal);
  }
}

/** Checks each version, and each time at which a version began. */
async function requireHistory(
  store: Store,
  changes: readonly Logged[],
  current: ReturnType<typeof toStored>,
): Promise<void> {
  const [{ collection, id }] = changes as [Logged];
  const key: Key = { collection, id };
  assert.deepEqual(await store.read(key), current);
  const listed = changes.map(({ collection: _, id: __, superseded: ___, text: ____, ...change }) => change);
  assert.deepEqual(await store.changesOf(key, everything), listed.toReversed());
  const versions = changes.map(({ version, at, kind, text }, n) => {
    const next = changes[n + 1];
    assert.equal(text, kind === "deleted" ? undefined : (next?.superseded ?? current?.text));
    if (kind === "deleted") return { version, at, stored: undefined };
    if (next === undefined) return { version, at, stored: current };
    assert.ok(next.superseded !== undefined, "a text that was superseded is lost");
    return { version, at, stored: { id, version, text: next.superseded, updatedAt: at } };
  });
  for (const { version, stored } of versions) assert.deepEqual(await store.version(key, version), stored);
  for (const at of new Set(versions.map((one) => one.at))) {
    const then = versions.findLast((one) => one.at <= at);
    assert.deepEqual(await store.versionAt(key, at), then?.stored, `${nameOf(key)} at ${at}`);
  }
  const [first] = versions;
  assert.equal(await store.versionAt(key, (first?.at ?? 0) - 1), undefined);
}
