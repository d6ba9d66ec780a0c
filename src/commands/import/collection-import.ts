/**
 * Imports the items of one input into one collection, inside a transaction of the store. While the store inserts a batch,
 * the next batch is read and checked. At most two batches are in memory, so an input can have any size.
 */
import type { Collection } from "../../collection/collection.ts";
import { createUuidSource } from "../../collection/uuids.ts";
import { subjectAt } from "../../json/pointer.ts";
import type { JsonLimits } from "../../json/values.ts";
import { danglingDetail, takenDetail } from "../../store/commits/refusals.ts";
import type { Load, Refused } from "../../store/load.ts";
import type { Store } from "../../store/store.ts";
import { openTemporaryDatabase } from "../../store/temporary-database.ts";
import { excerpt } from "../words.ts";
import type { Item, Items, Location } from "./items.ts";
import { readResource, type ValidResource } from "./resource.ts";
import { Tally } from "./tally.ts";

/** The input for one collection. */
export interface CollectionInput {
  collection: Collection;
  items: AsyncIterable<Items>;
}

/** How to import. */
export interface ItemOptions {
  limits: JsonLimits;
  /** Import the valid resources even if others are invalid. */
  skipInvalid: boolean;
  /** Nothing is written if this is aborted before the end. */
  signal: AbortSignal;
  /** Receives how many bytes and resources have been read. */
  onProgress(bytes: number, resources: number): void;
}

/** What the import of one collection did. */
export interface ImportResult {
  collection: string;
  /** Whether the resources can be written: all of them are valid, or invalid ones are skipped. */
  isAccepted: boolean;
  /** Whether a part of the input cannot be divided into items. */
  isBroken: boolean;
  /** The number of valid resources. */
  imported: number;
  invalid: Tally;
  /** Resources without an id, which got a generated one. */
  withoutId: Tally;
  /** Resources whose id does not fit the collection, which got a generated one. */
  unfitId: Tally;
  /** Resources whose id was a number and is now a string. */
  numberId: Tally;
}

const batchSize = 1_000;
const maxPendingBatches = 2;
const maxListedInvalid = 50;
const maxListedIds = 5;

/** A resource with its final id. */
interface Row {
  location: Location;
  id: string;
  text: string;
}

type LocatedResource = ValidResource & { location: Location };

/** Imports one input once. */
export class CollectionImport {
  readonly #store: Store;
  readonly #transaction: Load;
  readonly #input: CollectionInput;
  readonly #options: ItemOptions;
  readonly #at = Date.now();
  readonly #newUuid = createUuidSource();
  readonly #invalid = new Tally(maxListedInvalid);
  readonly #withoutId = new Tally(maxListedIds);
  readonly #unfitId = new Tally(maxListedIds);
  readonly #numberId = new Tally(maxListedIds);
  readonly #waiting = new WaitingRows();
  #batch: LocatedResource[] = [];
  #pending: Promise<void>[] = [];
  #read = 0;
  #imported = 0;
  #isBroken = false;

  constructor(store: Store, transaction: Load, input: CollectionInput, options: ItemOptions) {
    this.#store = store;
    this.#transaction = transaction;
    this.#input = input;
    this.#options = options;
  }

  async run(): Promise<ImportResult> {
    try {
      await this.#addAll();
      await this.#addWaiting();
    } finally {
      this.#waiting.close();
    }
    return {
      collection: this.#input.collection.name,
      isAccepted: !this.#isBroken && (this.#invalid.count === 0 || this.#options.skipInvalid),
      isBroken: this.#isBroken,
      imported: this.#imported,
      invalid: this.#invalid,
      withoutId: this.#withoutId,
      unfitId: this.#unfitId,
      numberId: this.#numberId,
    };
  }

  async #addAll(): Promise<void> {
    for await (const { items, bytesRead } of this.#input.items) {
      for (const item of items) {
        this.#take(item);
        if (this.#batch.length === batchSize) await this.#startBatch();
      }
      this.#options.onProgress(bytesRead, this.#read);
    }
    await this.#startBatch();
    await Promise.all(this.#pending);
  }

  #take(item: Item): void {
    this.#read++;
    const { location } = item;
    if (item.kind === "broken") {
      this.#isBroken = true;
      this.#invalid.add(location, `${item.reason}; the rest was not read`);
    } else if (item.kind === "invalid") this.#invalid.add(location, item.reason);
    else {
      const rules = { collection: this.#input.collection, limits: this.#options.limits, at: this.#at };
      const resource = readResource(item, rules);
      if (typeof resource === "string") this.#invalid.add(location, resource);
      else this.#batch.push({ ...resource, location });
    }
  }

  /** Passes the batch to the store. Waits for an earlier batch only if too many are pending. */
  async #startBatch(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    if (this.#pending.length === maxPendingBatches) await this.#pending.shift();
    const added = this.#add(batch);
    added.catch(() => {}); // the code that waits for the batch gets the error too
    this.#pending.push(added);
  }

  async #add(batch: readonly LocatedResource[]): Promise<void> {
    const rows: Row[] = [];
    for (const { location, id, textWith } of batch) {
      if (id !== undefined) rows.push({ location, id, text: textWith(id) });
      else if (this.#input.collection.idKind === "uuid") {
        const newId = this.#newUuid();
        rows.push({ location, id: newId, text: textWith(newId) });
      } else this.#waiting.add({ location, text: textWith("0").slice('{"id":0'.length) });
    }
    await this.#insert(rows);
    for (const resource of batch) this.#noteId(resource);
  }

  /** Adds the resources without an id. They come last, because a generated integer must be above every id of the input. */
  async #addWaiting(): Promise<void> {
    for (const waiting of this.#waiting.batches(batchSize)) {
      this.#options.signal.throwIfAborted();
      const first = await this.#store.reserveIds(this.#input.collection.name, waiting.length);
      await this.#insert(
        waiting.map(({ location, text }, index) => {
          const id = String(first + index);
          return { location, id, text: `{"id":${id}${text}` };
        }),
      );
    }
  }

  async #insert(rows: readonly Row[]): Promise<void> {
    const refused = await this.#transaction.add(rows.map(({ id, text }) => ({ id, text })));
    this.#imported += rows.length - refused.length;
    for (const each of refused) {
      const { location, id } = rows[each.position] as Row;
      this.#invalid.add(location, reasonOf(each, id));
    }
  }

  #noteId({ location, id, unfitId, hasNumberId }: LocatedResource): void {
    if (id !== undefined) {
      if (hasNumberId && this.#input.collection.idKind === "uuid")
        this.#numberId.add(location, `${id} is now "${id}"`);
    } else if (unfitId === undefined) this.#withoutId.add(location);
    else this.#unfitId.add(location, unfitId);
  }
}

function reasonOf({ pointer, isLost }: Refused, id: string): string {
  if (pointer === undefined) return `the id ${excerpt(id)} already exists`;
  return `${subjectAt(pointer, "the resource")} ${isLost === true ? danglingDetail : takenDetail}`;
}

type WaitingRow = Omit<Row, "id">;

/** The resources that still need an integer id. A temporary file holds them, so that memory stays flat. */
class WaitingRows {
  readonly #database = openTemporaryDatabase(
    "create table waiting (text text not null, location text not null) strict",
  );
  readonly #insert = this.#database.prepare("insert into waiting values (?, ?)");

  add({ text, location }: WaitingRow): void {
    this.#insert.run(text, JSON.stringify(location));
  }

  /** All resources in the order of the input, in batches. */
  *batches(size: number): Generator<readonly WaitingRow[]> {
    const select = this.#database.prepare(
      "select rowid, text, location from waiting where rowid > ? order by rowid limit ?",
    );
    for (let last = 0; ; ) {
      const rows = select.all(last, size);
      if (rows.length === 0) return;
      yield rows.map(({ text, location }) => ({
        text: String(text),
        location: JSON.parse(String(location)) as Location,
      }));
      last = Number(rows.at(-1)?.rowid);
    }
  }

  close(): void {
    this.#database.close();
  }
}
