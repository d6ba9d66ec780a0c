import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "../../src/store/port/page.ts";
import type { NumberedCollection } from "../../src/store/sqlite/file/catalogue.ts";
import { GenerationalCache, HotPages } from "../../src/store/sqlite/read/hot-reads.ts";

const collection: NumberedCollection = {
  number: 1,
  name: "topics",
  idKind: "uuid",
  schema: undefined,
  indexes: [],
  search: [],
  unique: [],
  references: [],
  timestamps: false,
  slots: [],
  uniqueSlots: [],
  places: [],
  numbers: { next: 1, used: [] },
};

function pageOf(text: string, sequence: number): Page {
  return { items: [{ id: "a", version: 1, text, updatedAt: 0 }], more: false, total: 1, sequence };
}

/** Whether a page had to be read. */
function isRead(pages: HotPages, limit: number, sequence: number, text = "{}"): boolean {
  let wasRead = false;
  const read = () => {
    wasRead = true;
    return pageOf(text, sequence);
  };
  pages.find(collection, { limit }, { sequence, read });
  return wasRead;
}

test("a page is read once for each list and sequence", () => {
  const pages = new HotPages();
  assert.ok(isRead(pages, 10, 1));
  assert.ok(!isRead(pages, 10, 1));
  assert.ok(isRead(pages, 11, 1));
  assert.ok(isRead(pages, 10, 2));
  assert.ok(!isRead(pages, 10, 2));
});

test("the cache holds one page for each list, so writes do not fill it", () => {
  const pages = new HotPages();
  isRead(pages, 10, 1);
  for (let sequence = 1; sequence <= 10_000; sequence++) isRead(pages, 11, sequence);
  assert.ok(!isRead(pages, 10, 1));
  assert.ok(isRead(pages, 11, 9_999), "an older page is not in the cache");
});

test("a page of much text is not kept", () => {
  const pages = new HotPages();
  const text = "x".repeat(300_000);
  assert.ok(isRead(pages, 10, 1, text));
  assert.ok(isRead(pages, 10, 1, text));
});

test("what is used stays, the rest goes when there is too much, and weights are taken back", () => {
  const bounds = { weight: 100, count: 1_000, weigh: (length: number) => length };
  const kept = new GenerationalCache<number>(bounds);
  kept.set("used", 10);
  kept.set("unused", 10);
  for (let n = 0; n < 100; n++) {
    kept.set(`n${n}`, 10);
    assert.equal(kept.get("used"), 10, `after ${n}`);
  }
  assert.equal(kept.get("unused"), undefined);
  const small = new GenerationalCache<number>(bounds);
  small.set("other", 40);
  for (let n = 0; n < 1_000; n++) small.set("same", 50 + (n % 11));
  small.set("same", 60);
  assert.deepEqual([small.get("other"), small.get("same")], [40, 60]);
  small.delete("same");
  assert.equal(small.get("same"), undefined);
});
