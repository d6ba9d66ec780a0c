/** Checks and measures a commit before a store accepts it. */
import type { Commit } from "./commit.ts";

/** Throws an Error if a commit breaks the contract of `Commit`. It would make the counts in the head rows wrong. */
export function requireSense({ changes, receipt }: Commit): void {
  if (changes.length === 0 && receipt === undefined) throw new Error("A commit has at least one change.");
  if (changes.some(({ expect, next }) => expect === "absent" && next === undefined)) {
    throw new Error("A change cannot delete what it expects to be absent.");
  }
  if (changes.length === 1) return;
  const keys = new Set(changes.map(({ key }) => `${key.collection}/${key.id}`));
  if (keys.size < changes.length) throw new Error("A commit cannot change one resource twice.");
}

/** The length of all texts that a commit brings and replaces, in characters. */
export function textLength({ changes, receipt }: Commit): number {
  let length = receipt?.answer.length ?? 0;
  for (const { next, replaced = 0 } of changes) length += (next?.length ?? 0) + replaced;
  return length;
}
