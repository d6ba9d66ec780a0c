/** Whole collections, each from one snapshot. */
import { Problem } from "../../errors.ts";
import type { Stored } from "../store.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { Connections } from "./connections.ts";
import { answerTo } from "./failures.ts";
import { toStored } from "./reads.ts";
import { selectChunk } from "./statements.ts";
import { beginnings, type Transaction, transact } from "./transaction.ts";

/** What is read at once: so many resources, or so many bytes of text if that is less. */
const chunk = { resources: 256, size: 2 * 1024 * 1024 };

/** Scans under way, each on a connection of its own with a transaction open. */
export class Scans {
  readonly #connections: Connections;
  readonly #open = new Set<() => void>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Every resource in id order, as the collection was when the first was asked for. */
  async *scan(collection: NumberedCollection): AsyncGenerator<Stored> {
    const ending = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<Transaction>();
    const whole = transact(this.#connections, beginnings.snapshot, async (transaction) => {
      begun.resolve(transaction);
      await ending.promise;
    });
    whole.catch(begun.reject);
    const closed = Promise.withResolvers<never>();
    closed.promise.catch(() => {});
    const close = () => closed.reject(new Problem("UNAVAILABLE", "The store was closed."));
    this.#open.add(close);
    try {
      const transaction = await begun.promise;
      for (let after = ""; ; ) {
        const { rows } = await Promise.race([
          transaction.run(selectChunk(collection.number, after, chunk)),
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
      throw answerTo(error);
    } finally {
      this.#open.delete(close);
      ending.resolve();
      await whole.catch(() => {});
    }
  }

  /** Ends the scans under way. */
  close(): void {
    for (const close of this.#open) close();
    this.#open.clear();
  }
}
