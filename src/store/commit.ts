/** What is asked of a store that is to write, and what it answers. */
import { type Batch, type BatchOptions, createBatch } from "./batch.ts";
import type { ResolvedStoreOptions } from "./options.ts";
import type { Key } from "./stored.ts";

/** One resource's part of a commit: from a version that the caller saw to what should be next. */
export interface Change {
  key: Key;
  /** The version that must be current, or `absent` for a create. */
  expect: number | "absent";
  /** The resource's next text; `undefined` deletes it. */
  next: string | undefined;
  /**
   * Brings a deleted resource back: the version of the delete, from which the numbers go on. Only with `absent`, and only
   * while that delete is the last change of the resource in the change log. @default a resource that never was
   */
  after?: number;
}

/** An idempotency record, kept with the write that it stands for. */
export interface Receipt {
  /** Names principal, method, path and Idempotency-Key together; the caller decides how. */
  key: string;
  /** Tells one request from another under the same key. */
  fingerprint: string;
  /** The answer to give again, as the caller wrote it. */
  answer: string;
  /** A word or two that are kept where the store has no room for the answer any more. @default "" */
  brief?: string;
  /** Unix time in milliseconds from which the receipt is no longer valid. */
  expiresAt: number;
}

/** A receipt as the store has it: where it had no room for the answer any more, with `brief` alone. */
export interface KeptReceipt extends Omit<Receipt, "answer"> {
  /** `undefined`: dropped for want of room, or erased. */
  answer: string | undefined;
}

/** One call of `commit`: all of it happens, or none. */
export interface Commit {
  /** At least one, unless there is a receipt to keep; no key twice. */
  changes: readonly Change[];
  receipt?: Receipt;
  /** Who asked, for the change log. */
  principal?: string;
  /** Unix time in milliseconds; becomes `updatedAt` and the time in the change log. */
  at: number;
}

/** What a commit did, change by change, in the order of the call. */
export type Committed = readonly { version: number; sequence: number }[];

/** Throws for a commit that breaks the contract of `commit`: it would make the counts of collections wrong. */
export function requireSense({ changes, receipt }: Commit): void {
  if (changes.length === 0 && receipt === undefined) throw new Error("A commit has at least one change.");
  if (changes.some(({ expect, next }) => expect === "absent" && next === undefined)) {
    throw new Error("A change cannot delete what it expects to be absent.");
  }
  if (changes.length === 1) return;
  const keys = new Set(changes.map(({ key }) => `${key.collection}/${key.id}`));
  if (keys.size < changes.length) throw new Error("A commit cannot change one resource twice.");
}

/** Text of commits that can wait, in characters. */
const maxWaitingText = 128 * 1024 * 1024;

/** Performs commits that arrive together in one go. */
export function createCommitBatch(
  { groupCommit, answersPerTurn }: Pick<ResolvedStoreOptions, "groupCommit" | "answersPerTurn">,
  options: Pick<BatchOptions<Commit, Committed>, "perform" | "maxUnderWay">,
): Batch<Commit, Committed> {
  const maxTogether = groupCommit ? 1_000 : 1;
  return createBatch({
    ...options,
    maxTogether,
    answersPerTurn,
    maxWeight: maxWaitingText,
    weigh: textLength,
  });
}

/** The length of the text in a commit, in characters. */
export function textLength({ changes, receipt }: Commit): number {
  let length = receipt?.answer.length ?? 0;
  for (const { next } of changes) length += next?.length ?? 0;
  return length;
}
