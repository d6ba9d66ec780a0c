/** Reads whole collections, each from one snapshot. */

import type { DatabaseSync } from "node:sqlite";
import { Problem } from "../../../errors.ts";
import { integerOf } from "../../core/integer-ids.ts";
import type { Stored } from "../../port/stored.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { openForReading } from "../file/open-file.ts";
import { Reader } from "./reader.ts";

/** The resources that one statement reads. Between two chunks, only the transaction is open. */
const chunk = 256;

/** The scans in progress. Each has its own connection. The log cannot become shorter before a scan ends. */
export class Scans {
  readonly #path: string;
  readonly #open = new Set<DatabaseSync>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Every resource in the order of ids. The snapshot starts when the caller asks for the first one. */
  async *scan(collection: NumberedCollection): AsyncGenerator<Stored> {
    const database = openForReading(this.#path);
    this.#open.add(database);
    try {
      database.exec("begin");
      const reader = new Reader(database);
      let last: Stored | undefined;
      do {
        const after = last === undefined ? {} : { after: [idInPosition(collection, last.id)] };
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

  /** Ends all scans. */
  close(): void {
    for (const database of this.#open) database.close();
    this.#open.clear();
  }
}

/** The id in a position of a list: a number if the collection has integer ids. */
function idInPosition({ idKind }: NumberedCollection, id: string): string | number {
  return integerOf(idKind, id) ?? id;
}
