/** What decisions about writes look up in a store. */
import type { Reference } from "../../../collection/references.ts";
import type { Unique } from "../../../collection/unique.ts";
import type { NumberedCollection, Referrer } from "../catalogue.ts";
import type { Decision } from "../decision.ts";
import type { ResourceState } from "./staged-changes.ts";

/** A resource that a lookup found. */
export interface FoundResource {
  id: string;
  state: ResourceState;
}

/** A lookup reads at most this many resources, and stops after it has read more than `text` bytes. */
export interface ReadLimit {
  resources: number;
  text: number;
}

/** Which holders of a unique value to look up. `enough` of them are sufficient. */
export interface HoldersQuery {
  collection: NumberedCollection;
  unique: Unique;
  value: string;
  enough: number;
}

/** Which resources to look up: all that refer to one of `ids`, except `known`. */
export interface ReferrersQuery {
  referrer: Referrer;
  ids: readonly string[];
  known: ReadonlySet<string>;
  limit: ReadLimit;
}

/** Which ids to look up: the ids that a reference of a collection contains, starting from one id. */
export interface TargetsQuery {
  collection: NumberedCollection;
  reference: Reference;
  from: string;
  limit: number;
}

/** The result of a lookup, now or later. */
type Found<T> = T | Promise<T>;

/** The lookups. They do not see changes that are only staged. */
export interface Lookups {
  /** A resource that is about to change. A shared store locks it. */
  resource(collection: NumberedCollection, id: string): Found<ResourceState | undefined>;
  /** The sequence of a collection, without the staged changes. */
  sequence(collection: NumberedCollection): Found<number>;
  /** Whether a resource exists. */
  exists(collection: NumberedCollection, id: string): Found<boolean>;
  /** The ids among these that belong to resources. */
  existing(collection: NumberedCollection, ids: readonly string[]): Found<ReadonlySet<string>>;
  /** The versions of the last deletes of ids, by the names among these that the table of deleted ids has (`deleted.ts`). */
  deleted(collection: NumberedCollection, names: readonly string[]): Found<ReadonlyMap<string, number>>;
  /** The ids of resources that have a value in a unique attribute. */
  holders(query: HoldersQuery): Found<readonly string[]>;
  /** The resources that refer to other resources. */
  referrers(query: ReferrersQuery): Found<readonly FoundResource[]>;
  /** The ids that resources refer to, each once. Their order never changes. */
  targets(query: TargetsQuery): Found<readonly string[]>;
  /** The time at which the receipt with this key expires. */
  receipt(key: string): Found<number | undefined>;
  /** The number of receipts in the store. */
  receiptCount(): Found<number>;
}

/** A decision about writes. */
export type WriteDecision<T> = Decision<Lookups, T>;
