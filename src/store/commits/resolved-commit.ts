/** A commit whose collections have been found, and what every decision about it works with. */
import type { Catalogue, NumberedCollection } from "../catalogue.ts";
import type { Commit, Receipt } from "../commit.ts";
import type { StagedChanges } from "./staged-changes.ts";

/** What a decision works with. */
export interface Judging {
  catalogue(): Catalogue;
  staged: StagedChanges;
  /** How many receipts the store can have. */
  maxReceipts: number;
  /** A number that no group of changes has had. */
  nextGroup(): number;
}

/** A change whose collection has been found. */
export interface ResolvedChange {
  collection: NumberedCollection;
  id: string;
  expect: number | "absent";
  next: string | undefined;
  after?: number | undefined;
}

/** A commit whose collections have been found. */
export interface ResolvedCommit {
  changes: readonly ResolvedChange[];
  receipt: Receipt | undefined;
  principal: string | null;
  at: number;
}

/** Finds the collections of a commit. */
export function resolveCommit(
  { byName }: Catalogue,
  { changes, receipt, principal, at }: Commit,
): ResolvedCommit {
  const resolved = changes.map(({ key, ...change }) => {
    const collection = byName.get(key.collection);
    if (collection === undefined)
      throw new Error(`There is no collection ${JSON.stringify(key.collection)}.`);
    return { ...change, collection, id: key.id };
  });
  return { changes: resolved, receipt, principal: principal ?? null, at };
}
