/** A resource as stores keep it. */

/** Identifies one resource. `id` is the canonical text of the id, even if the collection has integer ids. */
export interface Key {
  collection: string;
  id: string;
}

/** A version of a resource. */
export interface Stored {
  /** The canonical text of the id. */
  id: string;
  /** 1 after a create. Each change raises it by one. */
  version: number;
  /** The exact JSON text of the response, with `id` first. */
  text: string;
  /** The time of the write: Unix time in milliseconds. */
  updatedAt: number;
}

/** Whether every store can contain the text. PostgreSQL cannot store a null character or half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
