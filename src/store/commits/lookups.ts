/**
 * What the decisions about writes need to know of a store. A decision is a generator that yields lookups. SQLite answers
 * each at once; PostgreSQL answers from what it has read in sets before, and reads the rest.
 */
import type { Reference } from "../../collection/references.ts";
import type { Unique } from "../../collection/unique.ts";
import type { NumberedCollection, Referrer } from "../catalogue.ts";
import type { ResourceState } from "./staged-changes.ts";

/** A resource that a lookup found. */
export interface FoundResource {
  id: string;
  state: ResourceState;
}

/** How much a lookup of resources reads: this many, and no more after these bytes of text are passed. */
export interface ReadLimit {
  resources: number;
  text: number;
}

/** The parameters of each lookup. All lookups see the store without the changes that are only staged. */
export interface Questions {
  /** A resource that is about to change; a shared store locks it. */
  resource: { collection: NumberedCollection; id: string };
  /** Whether a resource exists. */
  exists: { collection: NumberedCollection; id: string };
  /** The version of the last change of a resource in the change log. */
  lastVersion: { collection: NumberedCollection; id: string };
  /** Ids of resources that have a value in a unique attribute. `enough` of them suffice. */
  holders: { collection: NumberedCollection; unique: Unique; value: string; enough: number };
  /** Resources that refer to one of the ids, without those in `known`. */
  referrers: { referrer: Referrer; ids: readonly string[]; known: ReadonlySet<string>; limit: ReadLimit };
  /** The ids that resources of a collection refer to, from one on, each once, in an order that does not change. */
  targets: { of: NumberedCollection; reference: Reference; from: string; limit: number };
  /** When the receipt with this key expires. */
  receipt: { key: string };
  /** How many receipts the store has. */
  receiptCount: object;
}

/** The answer to each lookup. */
export interface Answers {
  resource: ResourceState | undefined;
  exists: boolean;
  lastVersion: number | undefined;
  holders: readonly string[];
  referrers: readonly FoundResource[];
  targets: readonly string[];
  receipt: number | undefined;
  receiptCount: number;
}

type Kind = keyof Questions;

/** One lookup. */
export type Lookup = { [K in Kind]: { kind: K } & Questions[K] }[Kind];

/** A decision on its way: yields lookups, takes their answers, and returns what was decided. */
export type Steps<T> = Generator<Lookup, T, unknown>;

/** A store that answers at once. */
export type Lookups = { [K in Kind]: (question: Questions[K]) => Answers[K] };

/** A store that may have to read first. */
export type AsyncLookups = { [K in Kind]: (question: Questions[K]) => Answers[K] | Promise<Answers[K]> };

/** Yields one lookup and returns its answer. */
export function* lookUp<K extends Kind>(kind: K, question: Questions[K]): Steps<Answers[K]> {
  return (yield { kind, ...question } as Lookup) as Answers[K];
}

/** Runs a decision on a store that answers at once. */
export function decide<T>(steps: Steps<T>, lookups: Lookups): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next(lookups[step.value.kind](step.value as never));
  return step.value;
}

/** Runs a decision on a store that may have to read first. */
export async function decideAsync<T>(steps: Steps<T>, lookups: AsyncLookups): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const answer = lookups[step.value.kind](step.value as never);
    step = steps.next(answer instanceof Promise ? await answer : answer);
  }
  return step.value;
}
