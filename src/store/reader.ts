/** Reads a store while a service can have it open. */
import type { ApiKey } from "./keys.ts";
import type { CollectionRecord } from "./record.ts";
import type { Stored } from "./stored.ts";

/** What can be read of a store without owning it. */
export interface StoreReader {
  /** Collections in the store by name. */
  collections(): ReadonlyMap<string, CollectionRecord>;
  /** How many resources the collection has; 0 for an unknown one. */
  count(collection: string): number;
  /** Every resource of a collection in id order, all from one snapshot. */
  scan(collection: string): AsyncIterable<Stored>;
  /** All API keys, the oldest first. */
  keys(): readonly ApiKey[];
  close(): Promise<void>;
}
