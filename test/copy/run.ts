/** Copies as a process does it: from the opening of both stores to their close. */
import assert from "node:assert/strict";
import { StartError } from "../../src/errors.ts";
import type { CopySource } from "../../src/store/core/copy/contents.ts";
import { type Copied, type CopyOptions, type CopyPhase, copyStore } from "../../src/store/core/copy/copy.ts";
import { openSource, openStore, openTarget, type StoreAddress } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";

/** So little at once that even a small store takes many pages. */
export const smallPages = { items: 3, bytes: 8_000 };

/** Copies a store, in small pages; `around` may get between the copy and its source. */
export async function copy(
  from: StoreAddress,
  to: StoreAddress,
  {
    around = (source) => source,
    ...options
  }: CopyOptions & { around?: (source: CopySource) => CopySource } = {},
): Promise<Copied> {
  const source = await openSource(from);
  try {
    const target = await openTarget(to);
    const copied = copyStore(around(source), target, { pageSize: smallPages, ...options });
    return await copied.finally(() => target.close());
  } finally {
    await source.close();
  }
}

/** Asks several stores the same. */
export async function askEach<T>(
  addresses: readonly StoreAddress[],
  ask: (store: Store) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  for (const address of addresses) {
    const store = await openStore(address, { history: "forever" });
    answers.push(await ask(store).finally(() => store.close()));
  }
  return answers;
}

/** Copies this many pages, and then interrupts the copy. */
export async function copyPages(from: StoreAddress, to: StoreAddress, pages: number): Promise<void> {
  const controller = new AbortController();
  let left = pages;
  const update = () => {
    if (left-- === 0) controller.abort(new Error("enough"));
  };
  const watch = async () => ({ update, stop() {} });
  await copy(from, to, { watch, signal: controller.signal }).catch((error: Error) => {
    if (error.message !== "enough") throw error;
  });
}

/** Copies, and breaks off when a part of the work would begin. */
export async function copyUntil(from: StoreAddress, to: StoreAddress, part: CopyPhase): Promise<void> {
  const watch = async (what: CopyPhase) => {
    if (what === part) throw new Error("enough");
    return { update() {}, stop() {} };
  };
  await copy(from, to, { watch }).catch((error: Error) => {
    if (error.message !== "enough") throw error;
  });
}

/** Accepts an error for the user with this text. */
export const refusal = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.match(error.message, words);
  return true;
};
