/** A commit whose collections have been found, and what every decision about it works with. */

import {
  type Change,
  type Commit,
  type Receipt,
  type Requirement,
  requirementsOf,
} from "../../port/commit.ts";
import { toNumber } from "../../port/log-place.ts";
import type { Plan } from "../../sql/plans.ts";
import type { Catalogue, NumberedCollection } from "../catalogue.ts";
import type { ReceiptPlans } from "../receipt-plans.ts";
import type { Lookups } from "./lookups.ts";
import { StagedChanges } from "./staged-changes.ts";

/** What a decision works with. */
export interface Judging {
  catalogue(): Catalogue;
  staged: StagedChanges;
  lookups: Lookups;
  /** How many receipts the store can have. */
  maxReceipts: number;
  /** The sequence of a collection that must have an expected one, without the staged changes. */
  sequenceOf(collection: NumberedCollection): number;
  /** A number that no group of changes has had. */
  nextGroup(): number;
}

/** A change whose collection has been found. */
export interface ResolvedChange {
  collection: NumberedCollection;
  id: string;
  expect: number | "absent";
  expectText?: string | undefined;
  next: string | undefined;
  after?: number | undefined;
  last?: number | undefined;
  principal?: string | undefined;
}

/** A commit whose collections have been found. */
export interface ResolvedCommit {
  changes: readonly ResolvedChange[];
  /** The changes that come before (`Commit.steps`). */
  steps?: readonly (readonly ResolvedChange[])[] | undefined;
  receipt: Receipt | undefined;
  principal: string | null;
  at: number;
  isDryRun?: boolean;
  maxCascadeText?: number | undefined;
  /** Whether the commit can change a resource whose checksum is wrong. @default false */
  mayBeDamaged?: boolean;
  /** The sequences that collections must have (`Commit.whole`). */
  whole?: readonly ExpectedSequence[] | undefined;
  /** What related resources must be like before the commit, for the change with this index among all of them. */
  requires?: readonly (Requirement & { change: number })[] | undefined;
}

/** The sequence that a collection must have. */
export interface ExpectedSequence {
  collection: NumberedCollection;
  sequence: number;
}

/** Finds the collections of a commit. */
export function resolveCommit({ byName }: Catalogue, commit: Commit): ResolvedCommit {
  const { changes, steps, receipt, principal, at, isDryRun = false, maxCascadeText, whole } = commit;
  const requires = requirementsOf(commit);
  const find = (name: string) => {
    const collection = byName.get(name);
    if (collection === undefined) throw new Error(`There is no collection ${JSON.stringify(name)}.`);
    return collection;
  };
  const resolve = ({ key, requires: _, ...change }: Change) => ({
    ...change,
    collection: find(key.collection),
    id: key.id,
  });
  return {
    changes: changes.map(resolve),
    steps: steps?.map((step) => step.map(resolve)),
    receipt,
    principal: principal ?? null,
    at,
    isDryRun,
    maxCascadeText,
    whole:
      whole && [...whole].map(([name, place]) => ({ collection: find(name), sequence: toNumber(place) })),
    ...(requires.length > 0 && { requires }),
  };
}

/** All changes of a commit, those of the earlier steps first. */
export function resolvedChangesOf({ changes, steps }: ResolvedCommit): readonly ResolvedChange[] {
  return steps === undefined ? changes : [...steps.flat(), ...changes];
}

/** What decisions and their writes depend on. */
export interface WriteParts<C extends NumberedCollection = NumberedCollection> {
  /** The declarations that the decisions assume. */
  catalogue(): Catalogue<C>;
  receipts: ReceiptPlans;
  /** Whether the change log is written. */
  isLogged: boolean;
  lookupsOf(catalogue: Pick<Catalogue, "byName">, receipts: ReceiptPlans): Lookups;
  /** Writes everything that is staged. Each change has its sequence afterwards. Throws Overtaken. */
  write(staged: StagedChanges<C>): Plan<void>;
  /** Adds to the sequence of a collection, and notes that its log can lack changes up to there. */
  noteErasure(collection: C, by: number): Plan<void>;
}

/** What decisions work with. Nothing is staged yet. */
export function judgingOf<C extends NumberedCollection>(
  { catalogue, receipts, lookupsOf }: WriteParts<C>,
  { nextGroup, sequenceOf = () => 0 }: Pick<Judging, "nextGroup"> & Partial<Pick<Judging, "sequenceOf">>,
): Judging & { staged: StagedChanges<C> } {
  const lookups = lookupsOf(catalogue(), receipts);
  const staged = new StagedChanges<C>();
  return { catalogue, staged, lookups, maxReceipts: receipts.limits.keys, sequenceOf, nextGroup };
}
