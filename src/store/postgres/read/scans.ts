/** Reads whole collections, each from one snapshot. */
import { Problem } from "../../../errors.ts";
import type { Stored } from "../../port/stored.ts";
import type { Connections } from "../connection/connections.ts";
import { toClientError } from "../connection/failures.ts";
import { openSnapshot, type Snapshot } from "../connection/snapshot.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { toStored } from "./reads.ts";
import { selectChunk } from "./statements.ts";

/** The limits of one statement: resources, and bytes of text. */
const chunk = { resources: 256, size: 2 * 1024 * 1024 };

/** The scans in progress. Each has its own connection with an open transaction. */
export class Scans {
  readonly #connections: Connections;
  readonly #open = new Set<() => void>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Every resource in the order of ids, as of the first read. */
  async *scan(collection: NumberedCollection): AsyncGenerator<Stored> {
    const closed = Promise.withResolvers<never>();
    closed.promise.catch(() => {});
    const close = () => closed.reject(new Problem("UNAVAILABLE", "The store was closed."));
    this.#open.add(close);
    let snapshot: Snapshot | undefined;
    try {
      snapshot = await openSnapshot(this.#connections);
      for (let after = ""; ; ) {
        const { rows } = await Promise.race([
          snapshot.run(selectChunk(collection.number, after, chunk)),
          closed.promise,
        ]);
        for (const row of rows) {
          yield toStored(collection, row);
          if (!this.#open.has(close)) await closed.promise;
        }
        const last = rows.at(-1);
        if (last === undefined) return;
        after = String(last[0]);
      }
    } catch (error) {
      throw toClientError(error);
    } finally {
      this.#open.delete(close);
      await snapshot?.end();
    }
  }

  /** Ends the scans in progress. */
  close(): void {
    for (const close of this.#open) close();
    this.#open.clear();
  }
}
