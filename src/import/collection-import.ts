/**
 * Imports the items of one input into one collection, inside a transaction of the store. While the store inserts a batch,
 * the next batch is read and checked. At most three batches are in memory, so an input can have any size.
 */
import type { Collection } from "../collection/collection.ts";
import { hasExpired } from "../collection/expiry.ts";
import type { Load, Store } from "../store/port/store.ts";
import { Additions } from "./additions.ts";
import type { ColumnSummary } from "./cells.ts";
import { type ImportResult, ItemReader, type ReadingOptions, type Row } from "./item-reader.ts";
import type { Items } from "./items.ts";
import { batchLength, batchSize, Spool } from "./spool.ts";

/** The input for one collection. */
export interface CollectionInput {
  collection: Collection;
  /** Reads the items. The store is the one that receives them. */
  items(store: Pick<Store, "list">): AsyncIterable<Items>;
  /** The columns of CSV, after the items were read. */
  columns?(): readonly ColumnSummary[] | undefined;
}

/** How to import. */
export interface ItemOptions extends ReadingOptions {
  /** Nothing is written if this is aborted before the end. */
  signal: AbortSignal;
  /** Receives how many bytes and resources have been read. */
  onProgress(bytes: number, resources: number): void;
}

/** Imports one input. Returns what it did, so far in the transaction only. */
export async function importCollection(
  transaction: Load,
  { collection, items: read, columns }: CollectionInput,
  { store, ...options }: ItemOptions & { store: Pick<Store, "list"> },
): Promise<ImportResult> {
  const waiting = new Spool();
  const reader = new ItemReader(collection, options, waiting);
  const at = Date.now();
  const isOver = (text: string) => hasExpired(collection, text, at);
  const additions = new Additions(transaction, reader, {
    ...options,
    ...(collection.expires !== undefined && { isOver }),
  });
  const batch = new Batch((rows) => additions.start(rows));
  try {
    for await (const { items, bytesRead } of read(store)) {
      for await (const row of reader.rows(items)) {
        if (row.id === undefined) waiting.add(row);
        else await batch.add(row);
      }
      options.onProgress(bytesRead, reader.read);
    }
    await batch.send();
    await additions.finish(waiting, options.signal);
  } finally {
    waiting.close();
  }
  const { merged, reused } = additions;
  return reader.resultFor(additions.count, { merged, reused, columns: columns?.() });
}

/** Resources that are sent together. */
class Batch {
  readonly #send: (rows: readonly Row[]) => Promise<void>;
  #rows: Row[] = [];
  #length = 0;

  constructor(send: (rows: readonly Row[]) => Promise<void>) {
    this.#send = send;
  }

  /** Adds a resource, and sends the batch if it is full. */
  add(row: Row): Promise<void> | undefined {
    this.#rows.push(row);
    this.#length += row.text.length;
    return this.#rows.length >= batchSize || this.#length >= batchLength ? this.send() : undefined;
  }

  async send(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#length = 0;
    await this.#send(rows);
  }
}
