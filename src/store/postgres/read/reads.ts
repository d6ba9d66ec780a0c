/** Reads single resources and receipts. Reads that are requested together share a statement. */

import { intactResource } from "../../core/checksums.ts";
import { ReceiptPlans } from "../../core/receipt-plans.ts";
import { type Batch, createBatch, type Outcome } from "../../port/batch.ts";
import type { KeptReceipt } from "../../port/commit.ts";
import { isStorable, type Key, type Stored } from "../../port/stored.ts";
import type { Row, Statement } from "../connection/connections.ts";
import { postgresDialect, runPlan } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import { selectLargeResources, selectResources } from "./statements.ts";

/** Runs a statement that changes nothing. */
export type Run = (statement: Statement) => Promise<{ rows: readonly Row[] }>;

/** The statement that reads resources of the collection with this number and name. */
type Select = (number: number, keys: readonly string[], name: string) => Statement;

/** What reads depend on. */
export interface ReadsOptions {
  run: Run;
  /** The collection with this name. If it is not in the catalogue, this looks in the database. */
  find(name: string): Promise<NumberedCollection | undefined>;
  /** How many reads share a statement at most. */
  maxBatchSize: number;
}

/** How many statements run at the same time. Reads that arrive in the meantime share the next statement. */
const maxStatements = 3;

/** Text that one statement reads, in bytes. If each of its reads has less than an equal part of this, it reads all. */
const maxBytes = 16_777_216;

/** As `maxBytes`, for statements that read large resources. A single resource can be larger. */
const maxLargeBytes = 4_194_304;

/** Reads of large resources that one statement looks for. It reads only some of them. */
const maxLarge = 64;

/** The outcome of a read that must be repeated among the large ones. */
const isLarge = Symbol("large");

const receipts = new ReceiptPlans(postgresDialect);

/** The reads of one store. */
export class Reads {
  readonly #options: ReadsOptions;
  readonly #resources: Batch<Key, Stored | undefined | typeof isLarge>;
  readonly #large: Batch<Key, Stored | undefined>;
  readonly #receipts: Batch<string, KeptReceipt | undefined>;

  constructor(options: ReadsOptions) {
    this.#options = options;
    const { maxBatchSize } = options;
    // If reads never share a statement, only the number of connections limits them.
    const maxConcurrent = maxBatchSize === 1 ? Number.POSITIVE_INFINITY : maxStatements;
    this.#resources = createBatch({
      perform: (keys) => this.#readResources(keys),
      maxBatchSize,
      maxConcurrent,
    });
    this.#large = createBatch({
      perform: (keys) => this.#readLarge(keys),
      maxBatchSize: Math.min(maxLarge, maxBatchSize),
      maxConcurrent: 1,
    });
    this.#receipts = createBatch({
      perform: (keys) => this.#readReceipts(keys),
      maxBatchSize,
      maxConcurrent,
    });
  }

  /** The resource; `undefined` if it does not exist. */
  async resource(key: Key): Promise<Stored | undefined> {
    const found = await this.#resources.run(key);
    return found === isLarge ? this.#large.run(key) : found;
  }

  /** The receipt with this key, valid or not. */
  receipt(key: string): Promise<KeptReceipt | undefined> {
    return this.#receipts.run(key);
  }

  /** Resolves when no read is in progress. */
  async drained(): Promise<void> {
    await Promise.all([this.#resources.drained(), this.#receipts.drained()]);
    await this.#large.drained();
  }

  #readResources(keys: readonly Key[]): Promise<Outcome<Stored | undefined | typeof isLarge>[]> {
    const size = Math.floor(maxBytes / keys.length);
    return this.#read(keys, (number, own) => selectResources(number, own, size));
  }

  /** The outcomes of the first ones; the others follow in the next statement. */
  async #readLarge(keys: readonly Key[]): Promise<readonly Outcome<Stored | undefined>[]> {
    const [first] = keys;
    const names = new Set(keys.map(({ collection }) => collection));
    const size = Math.floor(maxLargeBytes / names.size);
    const outcomes = await this.#read(keys, (number, own, name) =>
      selectLargeResources(number, own, { size, atLeast: name === first?.collection ? 1 : 0 }),
    );
    const end = outcomes.findIndex((outcome) => "answer" in outcome && outcome.answer === isLarge);
    return (end === -1 ? outcomes : outcomes.slice(0, end)) as Outcome<Stored | undefined>[];
  }

  /** Reads with one statement for each collection. */
  async #read(keys: readonly Key[], select: Select): Promise<Outcome<Stored | undefined | typeof isLarge>[]> {
    const names = [...new Set(keys.map(({ collection }) => collection))];
    const found = new Map<string, ReadonlyMap<string, Stored | typeof isLarge> | { error: unknown }>();
    await Promise.all(
      names.map(async (name) => {
        const ids = keys.filter(({ collection }) => collection === name).map(({ id }) => id);
        found.set(name, await this.#readCollection(name, ids, select).catch((error: unknown) => ({ error })));
      }),
    );
    return keys.map(({ collection, id }) => {
      const resources = found.get(collection);
      return resources !== undefined && "error" in resources ? resources : { answer: resources?.get(id) };
    });
  }

  async #readCollection(
    name: string,
    ids: readonly string[],
    select: Select,
  ): Promise<ReadonlyMap<string, Stored | typeof isLarge>> {
    const collection = await this.#options.find(name);
    if (collection === undefined) return new Map();
    const { number, idKind } = collection;
    const keys = [...new Set(ids.filter(isStorable).map((id) => keyOf(idKind, id)))];
    const { rows } = await this.#options.run(select(number, keys, name));
    return new Map(
      rows.map((row): [string, Stored | typeof isLarge] => {
        if (row[3] === null) return [idOf(idKind, String(row[0])), isLarge];
        const stored = toStored(collection, row);
        return [stored.id, stored];
      }),
    );
  }

  async #readReceipts(keys: readonly string[]): Promise<readonly Outcome<KeptReceipt | undefined>[]> {
    const found = await runPlan(receipts.find([...new Set(keys)]), this.#options.run);
    return keys.map((key) => ({ answer: found.get(key) }));
  }
}

/** The resource in a row of `resourceColumns`. Throws DATA_DAMAGED. */
export function toStored(
  { idKind, name }: NumberedCollection,
  [key, version, at, text, checksum]: Row,
): Stored {
  const stored = {
    id: idOf(idKind, String(key)),
    version: Number(version),
    text: String(text),
    updatedAt: Number(at),
  };
  return intactResource(name, stored, checksum);
}
