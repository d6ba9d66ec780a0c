/** Imports into a store. */
import type { CollectionRecord } from "./record.ts";

/** A resource to import. */
export interface ImportedResource {
  id: string;
  text: string;
}

/** A resource that was not added. */
export interface Refused {
  /** Its index in the call. */
  position: number;
  /** The attribute at fault, as a JSON Pointer in a fragment. `undefined` if the id is taken. */
  pointer: string | undefined;
  /** The attribute refers to a resource that does not exist. @default its value is taken */
  isLost?: true;
}

/** How to import. */
export interface LoadOptions {
  /**
   * References to these collections are checked at the end of the import, because it also imports these. All others are checked
   * at once. @default none
   */
  among?: readonly string[];
  /** Who imports, for the history; `null` without a credential. @default null */
  principal?: string | null;
  /** The length of all ids and texts that will be added, in characters, to estimate when the import ends. @default unknown */
  length?: number;
}

/** An import: one transaction, which is written by `finish` as a whole or not at all. */
export interface Load {
  /**
   * Adds resources. Each starts at version 1, or if its id was used before, at the version after the last one. Returns the
   * resources that were not added.
   */
  add(resources: readonly ImportedResource[]): Promise<readonly Refused[]>;
  /** Continues with another collection, as `load` does with the first. */
  next(collection: CollectionRecord): Promise<void>;
  /** Reserves `n` integer ids of the collection and returns the first. If the import is cancelled, they were never used. */
  reserveIds(n: number): Promise<number>;
  /** Throws what `finish` would throw, and cancels the import. */
  tryOut(): Promise<void>;
  /** Writes everything to the disk. Throws REFERENCE_NOT_FOUND, and then the store is unchanged. */
  finish(): Promise<void>;
  /** Ends the import. The store is unchanged. */
  cancel(): Promise<void>;
}
