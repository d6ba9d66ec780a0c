/** Whole collections, each from one snapshot. */

import type { DatabaseSync } from "node:sqlite";
import { Problem } from "../../../errors.ts";
import { integerOf } from "../../integer-ids.ts";
import type { Stored } from "../../stored.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { openForReading } from "../file/open-file.ts";
import { Reader } from "./reader.ts";

/** Resources read at once. Between chunks no statement is open, only the transaction. */
const chunk = 256;

/** Scans under way, each on a connection of its own. The log cannot shrink before they end. */
export class Scans {
  readonly #path: string;
  readonly #open = new Set<DatabaseSync>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Every resource in id order, as the collection was when the first was asked for. */
  async *scan(collection: NumberedCollection): AsyncGenerator<Stored> {
    const database = openForReading(this.#path);
    this.#open.add(database);
    try {
      database.exec("begin");
      const reader = new Reader(database);
      let last: Stored | undefined;
      do {
        const after = last === undefined ? {} : { after: [positionedId(collection, last.id)] };
        const { items } = reader.resources(collection, { limit: chunk, ...after });
        for (const resource of items) {
          yield resource;
          if (!database.isOpen) throw new Problem("UNAVAILABLE", "The store was closed.");
        }
        last = items.at(-1);
      } while (last !== undefined);
    } finally {
      this.#open.delete(database);
      if (database.isOpen) database.close();
    }
  }

  /** Ends the scans under way. */
  close(): void {
    for (const database of this.#open) database.close();
    this.#open.clear();
  }
}

/** The id as it stands in a resource, and so in a position. */
function positionedId({ idKind }: NumberedCollection, id: string): string | number {
  return integerOf(idKind, id) ?? id;
}
