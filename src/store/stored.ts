/** A resource as stores keep it. */

/** Names one resource. `id` is the canonical text of the id, also where the collection's ids are integers. */
export interface Key {
  collection: string;
  id: string;
}

/** One resource as it is kept. */
export interface Stored {
  /** The canonical text of the id. */
  id: string;
  /** 1 for a resource just created; each change of value raises it by one. */
  version: number;
  /** The resource's JSON exactly as it goes out, `id` first. */
  text: string;
  /** When this version was written: Unix time in milliseconds. */
  updatedAt: number;
}
