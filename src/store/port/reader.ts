/** Reads a store while a service can have it open. */
import type { ApiKey } from "./keys.ts";
import type { CollectionRecord } from "./record.ts";
import type { Stored } from "./stored.ts";

/** A store that another process can write to at the same time. */
export interface StoreReader {
  /** The collections by name. */
  collections(): ReadonlyMap<string, CollectionRecord>;
  /** The number of resources in a collection; 0 for an unknown collection. */
  count(collection: string): number;
  /** Every resource of a collection in the order of ids, all from one snapshot. */
  scan(collection: string): AsyncIterable<Stored>;
  /**
   * Walks through all rows, and calls `report` with a text for each finding: a row with a wrong checksum, missing rows, or a
   * resource that an index lacks. Returns whether it found damage.
   */
  findDamage(report: (text: string) => void): Promise<boolean>;
  /** All API keys, oldest first. Throws DATA_DAMAGED. */
  keys(): readonly ApiKey[];
  close(): Promise<void>;
}
