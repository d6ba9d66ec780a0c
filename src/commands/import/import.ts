/**
 * Brings an input into a collection: all of it in one transaction, written at the end or not at all.
 *
 * While the store inserts one batch the next is read and checked; at most two are on their way, so memory stays
 * flat whatever the size of the input.
 */
import type { Collection } from "../../collection/collection.ts";
import { createUuidSource } from "../../collection/ids.ts";
import { requireFit } from "../../fit.ts";
import type { JsonLimits } from "../../json/limits.ts";
import { subjectAt } from "../../json/pointer.ts";
import { danglingDetail, takenDetail } from "../../store/commits/refusals.ts";
import type { Load } from "../../store/load.ts";
import type { CollectionRecord } from "../../store/record.ts";
import { recordOf } from "../../store/record.ts";
import type { Store } from "../../store/store.ts";
import { excerpt } from "../words.ts";
import { type Held, HeldBack } from "./held-back.ts";
import { judge, type Sound, type Standard } from "./judge.ts";
import type { Piece, Pieces, Place } from "./pieces.ts";
import { Tally } from "./tally.ts";

/** What an import is asked to do. */
export interface ImportOptions {
  /** The input, taken apart. */
  pieces: AsyncIterable<Pieces>;
  limits: JsonLimits;
  /** Import the sound ones although others are bad. */
  skipInvalid: boolean;
  /** Aborted: nothing is written, unless the writing has begun. */
  signal: AbortSignal;
  /** Told how many bytes and resources have been read. */
  onProgress(bytes: number, resources: number): void;
}

/** What an import did. */
export interface ImportResult {
  /** Whether anything was written, or would have been. */
  isWritten: boolean;
  /** Whether a part of the input could not be told apart. */
  isBroken: boolean;
  /** How many resources were sound. */
  imported: number;
  bad: Tally;
  /** They had no id and got a generated one. */
  withoutId: Tally;
  /** They came with an id that does not fit and got a new one. */
  unfitId: Tally;
  /** They came with a number as id, which became text. */
  numberId: Tally;
}

const batchSize = 1_000;
const batchesUnderWay = 2;
const shownBad = 50;
const shownIds = 5;

/** A resource on its way to the store. */
interface Incoming {
  place: Place;
  sound: Sound;
}

/**
 * Imports into a collection, which is made if need be. On any error, and when the input throws, nothing is written,
 * and nothing is made.
 */
export async function importInto(
  store: Store,
  collection: Collection,
  options: ImportOptions,
): Promise<ImportResult> {
  const [result] = await importAll(store, [{ collection, options }], { isAllowed: true, onlyIfEmpty: false });
  return result as ImportResult;
}

/** What goes into one collection. */
export interface ImportPart {
  collection: Collection;
  options: ImportOptions;
}

/** Thrown when an import is only for an empty store, and something has been written to these collections. */
export class NotEmpty extends Error {
  readonly collections: readonly string[];

  constructor(collections: readonly string[]) {
    super(`The store is not empty: ${collections.join(", ")}`);
    this.collections = collections;
  }
}

/** How to import although stored resources do not fit. */
const advice =
  '. To keep them, start the service once with "npx holdfast serve --accept", stop it, and import again.';

/** When an import is written. */
export interface ImportConditions {
  /** False: nothing is written, and the results say what would have been. */
  isAllowed: boolean;
  /** Throw NotEmpty if something has been written to the store before, also what was deleted since. */
  onlyIfEmpty: boolean;
}

/**
 * Imports into several collections at once, all or nothing. They may refer to each other. Nothing is written if one of them
 * must not be, or if it is not allowed. Throws StartError if a reference leads nowhere when all are imported, and NotEmpty.
 */
export async function importAll(
  store: Store,
  parts: readonly ImportPart[],
  { isAllowed, onlyIfEmpty }: ImportConditions,
): Promise<ImportResult[]> {
  for (const { collection } of parts) {
    await requireFit(store, collection, ["unique", "references"], advice);
  }
  const among = parts.map(({ collection }) => collection.name);
  let transaction: Load | undefined;
  try {
    const results: ImportResult[] = [];
    for (const { collection, options } of parts) {
      const record = recordFor(collection, store.collections());
      if (transaction === undefined) {
        transaction = await store.load(record, among);
        if (onlyIfEmpty) await requireEmpty(store); // from here on, another import waits for this one
      } else await transaction.next(record);
      results.push(await new Import(store, transaction, collection, options).run());
      options.signal.throwIfAborted();
    }
    const isWritten = isAllowed && results.every((result) => result.isWritten);
    await (isWritten ? transaction?.finish() : transaction?.cancel());
    return results;
  } catch (error) {
    await transaction?.cancel().catch(() => {}); // the first error is the one to tell
    throw error;
  }
}

async function requireEmpty(store: Store): Promise<void> {
  const names = await store.collectionNames();
  const pages = await Promise.all(names.map((collection) => store.list({ collection, limit: 1 })));
  const written = names.filter((_, n) => (pages[n]?.sequence ?? 0) > 0);
  if (written.length > 0) throw new NotEmpty(written.toSorted());
}

/**
 * What arrives is held to what is declared; where the catalogue has another schema, nobody knows any more what the
 * resources fit, and the next start must check them. Whether they have timestamps is up to that start too.
 */
function recordFor(
  collection: Collection,
  catalogue: ReadonlyMap<string, CollectionRecord>,
): CollectionRecord {
  const record = recordOf(collection);
  const known = catalogue.get(record.name);
  if (known === undefined) return record;
  const { schema, timestamps = false } = known;
  return { ...record, timestamps, schema: schema === record.schema ? schema : undefined };
}

class Import {
  readonly #store: Store;
  readonly #transaction: Load;
  readonly #collection: Collection;
  readonly #options: ImportOptions;
  readonly #standard: Standard;
  readonly #newUuid = createUuidSource();
  readonly #bad = new Tally(shownBad);
  readonly #withoutId = new Tally(shownIds);
  readonly #unfitId = new Tally(shownIds);
  readonly #numberId = new Tally(shownIds);
  readonly #heldBack = new HeldBack();
  #batch: Incoming[] = [];
  #underWay: Promise<void>[] = [];
  #read = 0;
  #added = 0;
  #isBroken = false;

  constructor(store: Store, transaction: Load, collection: Collection, options: ImportOptions) {
    this.#store = store;
    this.#transaction = transaction;
    this.#collection = collection;
    this.#options = options;
    this.#standard = { collection, limits: options.limits, at: Date.now() };
  }

  async run(): Promise<ImportResult> {
    try {
      return await this.#run();
    } finally {
      this.#heldBack.close();
    }
  }

  async #run(): Promise<ImportResult> {
    for await (const { pieces, bytes } of this.#options.pieces) {
      for (const piece of pieces) {
        this.#take(piece);
        if (this.#batch.length === batchSize) await this.#send();
      }
      this.#options.onProgress(bytes, this.#read);
    }
    await this.#send();
    await Promise.all(this.#underWay);
    await this.#addHeldBack();
    return {
      isWritten: !this.#isBroken && (this.#bad.count === 0 || this.#options.skipInvalid),
      isBroken: this.#isBroken,
      imported: this.#added,
      bad: this.#bad,
      withoutId: this.#withoutId,
      unfitId: this.#unfitId,
      numberId: this.#numberId,
    };
  }

  #take(piece: Piece): void {
    this.#read++;
    if (piece.kind === "text") {
      const sound = judge(piece, this.#standard);
      if (typeof sound === "string") this.#bad.add(piece.place, sound);
      else this.#batch.push({ place: piece.place, sound });
      return;
    }
    this.#isBroken ||= piece.kind === "broken";
    this.#bad.add(
      piece.place,
      piece.kind === "broken" ? `${piece.reason}; the rest was not read` : piece.reason,
    );
  }

  /** Hands the batch to the store, and waits only while too many are on their way. */
  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    if (this.#underWay.length === batchesUnderWay) await this.#underWay.shift();
    const added = this.#add(batch);
    added.catch(() => {}); // whoever waits for it next is told
    this.#underWay.push(added);
  }

  async #add(batch: readonly Incoming[]): Promise<void> {
    if (this.#collection.idKind === "uuid") {
      await this.#insert(
        batch,
        batch.map(({ sound }) => sound.id ?? this.#newUuid()),
      );
    } else await this.#addIntegers(batch);
    for (const { place, sound } of batch) this.#noteId(place, sound);
  }

  /** Only those that bring an id: the ids made for the others must not be those of later lines. */
  async #addIntegers(batch: readonly Incoming[]): Promise<void> {
    for (const { sound, place } of batch) {
      if (sound.id === undefined)
        this.#heldBack.add({ place, text: sound.textFor("0").slice('{"id":0'.length) });
    }
    const named = batch.filter(({ sound }) => sound.id !== undefined);
    await this.#insert(
      named,
      named.map(({ sound }) => sound.id as string),
    );
  }

  /** Those that brought no id get theirs, above all ids of the others. */
  async #addHeldBack(): Promise<void> {
    for (const rests of this.#heldBack.batches(batchSize)) {
      this.#options.signal.throwIfAborted();
      const first = await this.#store.reserveIds(this.#collection.name, rests.length);
      const arrivals = rests.map(({ text }, index) => {
        const id = String(first + index);
        return { id, text: `{"id":${id}${text}` };
      });
      const taken = await this.#transaction.add(arrivals);
      this.#added += rests.length - taken.length;
      for (const { position, pointer, isLost } of taken) {
        if (pointer === undefined) throw new Error("An id that was just made is already taken.");
        this.#bad.add((rests[position] as Held).place, whyTaken({ pointer, isLost }, undefined));
      }
    }
  }

  async #insert(incoming: readonly Incoming[], ids: readonly string[]): Promise<void> {
    const arrivals = incoming.map(({ sound }, index) => {
      const id = ids[index] as string;
      return { id, text: sound.textFor(id) };
    });
    const taken = await this.#transaction.add(arrivals);
    this.#added += incoming.length - taken.length;
    for (const { position, pointer, isLost } of taken) {
      const { place } = incoming[position] as Incoming;
      this.#bad.add(place, whyTaken({ pointer, isLost }, ids[position]));
    }
  }

  #noteId(place: Place, { id, unfitId, isIdNumber }: Sound): void {
    if (id !== undefined) {
      if (isIdNumber && this.#collection.idKind === "uuid") this.#numberId.add(place, `${id} is now "${id}"`);
    } else if (unfitId === undefined) this.#withoutId.add(place);
    else this.#unfitId.add(place, unfitId);
  }
}

type Why = { pointer: string | undefined; isLost: boolean | undefined };

function whyTaken({ pointer, isLost }: Why, id: string | undefined): string {
  if (pointer === undefined) return `the id ${excerpt(id)} already exists`;
  return `${subjectAt(pointer, "the resource")} ${isLost === true ? danglingDetail : takenDetail}`;
}
