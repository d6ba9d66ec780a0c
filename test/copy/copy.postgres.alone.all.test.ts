import assert from "node:assert/strict";
import { test } from "node:test";
import { isAfter, logStart } from "../../src/store/port/log-place.ts";
import type { Store } from "../../src/store/port/store.ts";
import { seed } from "../seed.ts";
import { makeBusy } from "./busy.ts";
import { goOn, observe } from "./observe.ts";
import { makePlace, ways } from "./places.ts";
import { askEach, copy } from "./run.ts";

for (const { from, to } of ways) {
  test(`a copy from ${from} to ${to} answers as its source does, and goes on as it does (HOLDFAST_TEST_SEED=${seed})`, async (t) => {
    const [source, target] = [await makePlace(t, from), await makePlace(t, to, { isEmpty: true })];
    await makeBusy(source, seed);
    const copied = await copy(source, target);
    assert.ok(copied.resources > 20 && copied.changes > copied.resources);
    assert.deepEqual([copied.keys, copied.resumedAt], [3, 0]);
    const [before, after] = await askEach([source, target], observe);
    assert.deepEqual(after, before);
    const [next, nextOfCopy] = await askEach([source, target], goOn);
    assert.deepEqual(nextOfCopy, next);
    assert.deepEqual(
      (next as { back: number[] }).back,
      [4, 3, 3, 1],
      "versions go on above those of deleted ids",
    );
  });

  test(`a copy from ${from} to ${to} with a new identity has another secret, and is equal otherwise`, async (t) => {
    const [source, target] = [await makePlace(t, from), await makePlace(t, to, { isEmpty: true })];
    await makeBusy(source, seed);
    await copy(source, target, { newIdentity: true });
    const [{ secret: old, ...before }, { secret, ...after }] = (await askEach([source, target], observe)) as [
      { secret: Buffer },
      { secret: Buffer },
    ];
    assert.notDeepEqual(secret, old);
    assert.deepEqual(after, before);
  });

  test(`a copy from ${from} to ${to} does not need the numbers that indexes and unique attributes have`, async (t) => {
    const [source, target] = [await makePlace(t, from), await makePlace(t, to, { isEmpty: true })];
    const path = ["email"] as const;
    const people = { name: "people", idKind: "uuid", schema: undefined, indexes: [], search: [] } as const;
    const unique = [{ path, ignoreCase: false }];
    await askEach([source], async (store) => {
      await store.migrate([{ ...people, indexes: [[{ path, descending: false }]] }]);
      await store.migrate([{ ...people, unique }]);
    });
    await copy(source, target);
    const declared = async (store: Store) => store.collections().get("people")?.unique;
    assert.deepEqual(await askEach([target], declared), [unique]);
  });

  test(`a copy from ${from} to ${to} knows the gaps of the change log`, async (t) => {
    const [source, target] = [await makePlace(t, from), await makePlace(t, to, { isEmpty: true })];
    await makeBusy(source, seed);
    const eraseFirst = async (store: Store) => {
      const [first] = (await store.changesAfter("notes", logStart, 1)).changes;
      await store.erase({ collection: "notes", id: String(first?.id) });
    };
    await askEach([source], eraseFirst);
    await copy(source, target);
    const heads = (store: Store) => store.logHeads(["notes"]);
    const [before, after] = await askEach([source, target], heads);
    assert.ok(isAfter(before?.get("notes")?.gapsUpTo ?? logStart, logStart));
    assert.deepEqual(after, before);
  });
}
