import assert from "node:assert/strict";
import { test } from "node:test";
import { makeBusy } from "./busy.ts";
import { goOn, observe } from "./observe.ts";
import { makePlace, ways } from "./places.ts";
import { askEach, copy } from "./run.ts";

const seed = Number(process.env.HOLDFAST_SEED ?? Math.floor(Math.random() * 2 ** 31));

for (const { from, to } of ways) {
  test(`a copy from ${from} to ${to} answers as its source does, and goes on as it does (HOLDFAST_SEED=${seed})`, async (t) => {
    const [source, target] = [await makePlace(t, from), await makePlace(t, to)];
    await makeBusy(source, seed);
    const copied = await copy(source, target);
    assert.ok(copied.resources > 20 && copied.changes > copied.resources);
    assert.deepEqual([copied.keys, copied.resumedAt], [3, 0]);
    const [before, after] = await askEach([source, target], observe);
    assert.deepEqual(after, before);
    const [next, nextOfCopy] = await askEach([source, target], goOn);
    assert.deepEqual(nextOfCopy, next);
  });
}
