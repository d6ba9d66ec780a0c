/** Imports, as stores take them. */
import type { CollectionRecord } from "./record.ts";

/** A resource that arrives from outside with an id (or with one just made for it). */
export interface Arrival {
  id: string;
  text: string;
}

/** An arrival that was not added. */
export interface Refused {
  /** Its place among the arrivals of the call. */
  position: number;
  /** The unique attribute whose value was taken, as a JSON Pointer in a fragment; `undefined`: the id was taken. */
  pointer: string | undefined;
  /** At `pointer` is not a unique value that was taken, but an id that leads nowhere. */
  isLost?: true;
}

/** An import under way: one transaction, written at `finish` as a whole or not at all. */
export interface Load {
  /**
   * Adds resources. Each starts at version = the collection's sequence + 1, above every version that its id
   * ever had. Gives those whose id or unique value was already taken; they are not added.
   */
  add(arrivals: readonly Arrival[]): Promise<readonly Refused[]>;
  /** Goes on with another collection, as `load` began with the first. */
  next(collection: CollectionRecord): Promise<void>;
  /** Writes everything to the disk. Throws REFERENCE_NOT_FOUND, and leaves the store as it was. */
  finish(): Promise<void>;
  /** Leaves the store as it was. */
  cancel(): Promise<void>;
}
