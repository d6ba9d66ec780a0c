import assert from "node:assert/strict";
import { test } from "node:test";
import { HotPages } from "../../src/store/core/hot-pages.ts";
import { toPlace } from "../../src/store/port/log-place.ts";
import type { Page } from "../../src/store/port/page.ts";

function pageOf(text: string, sequence: number): Page {
  return {
    items: [{ id: "a", version: 1, text, updatedAt: 0 }],
    more: false,
    total: 1,
    sequence: toPlace(sequence),
  };
}

/** Whether a page had to be read. */
function isRead(pages: HotPages<number>, limit: number, sequence: number, text = "{}"): boolean {
  const key = JSON.stringify({ limit });
  if (pages.find(key)?.state === sequence) return false;
  pages.note(key, { state: sequence, page: pageOf(text, sequence) });
  return true;
}

test("a page is read once for each list and sequence", () => {
  const pages = new HotPages<number>({ keepsFirst: true });
  assert.ok(isRead(pages, 10, 1));
  assert.ok(!isRead(pages, 10, 1));
  assert.ok(isRead(pages, 11, 1));
  assert.ok(isRead(pages, 10, 2));
  assert.ok(!isRead(pages, 10, 2));
});

test("the cache holds one page for each list, so writes do not fill it", () => {
  const pages = new HotPages<number>({ keepsFirst: true });
  isRead(pages, 10, 1);
  for (let sequence = 1; sequence <= 10_000; sequence++) isRead(pages, 11, sequence);
  assert.ok(!isRead(pages, 10, 1));
  assert.ok(isRead(pages, 11, 9_999), "an older page is not in the cache");
});

test("a page of much text is not kept", () => {
  const pages = new HotPages<number>({ keepsFirst: true });
  const text = "x".repeat(300_000);
  assert.ok(isRead(pages, 10, 1, text));
  assert.ok(isRead(pages, 10, 1, text));
});

test("a page can be kept only when its list is read again in the same state", () => {
  const pages = new HotPages<number>({ keepsFirst: false });
  assert.ok(isRead(pages, 10, 1));
  assert.ok(isRead(pages, 10, 2));
  assert.ok(isRead(pages, 10, 2));
  assert.ok(!isRead(pages, 10, 2));
});
