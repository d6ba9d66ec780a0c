import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreAddress } from "../../src/store/open.ts";
import { commit, created } from "../store/contract/fixture.ts";
import { makeBusy } from "./busy.ts";
import { makePlace } from "./places.ts";
import { askEach, copy, copyPages, refusal } from "./run.ts";

const seed = 7;

for (const from of ["sqlite", "postgres"] as const) {
  test(`a source in ${from} that has changed since the copy was begun is not copied on`, async (t) => {
    const [source, target] = [await makePlace(t, from), await makePlace(t, "sqlite")];
    await makeBusy(source, seed);
    await copyPages(source, target, 12);
    await writeTo(source);
    await assert.rejects(copy(source, target), refusal(/has changed since the copy started/));
  });
}

async function writeTo(address: StoreAddress): Promise<void> {
  await askEach([address], async (store) => {
    const id = String(await store.reserveIds("numbers", 1));
    await commit(store, [created({ collection: "numbers", id })]);
  });
}
