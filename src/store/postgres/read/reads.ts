/** Reads single resources and receipts. Reads that are requested together share a statement. */
import { type Batch, createBatch, type Outcome } from "../../batch.ts";
import type { KeptReceipt } from "../../commit.ts";
import type { Key, Stored } from "../../stored.ts";
import { selectReceipts } from "../commit/receipt-statements.ts";
import type { Row, Statement } from "../connection/connections.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { idOf, isKeepable, keyOf } from "../tables/id-keys.ts";
import { selectResources } from "./statements.ts";

/** Runs a statement that changes nothing. */
export type Run = (statement: Statement) => Promise<{ rows: readonly Row[] }>;

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

/** The reads of one store. */
export class Reads {
  readonly #options: ReadsOptions;
  readonly #resources: Batch<Key, Stored | undefined>;
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
    this.#receipts = createBatch({
      perform: (keys) => this.#readReceipts(keys),
      maxBatchSize,
      maxConcurrent,
    });
  }

  /** The resource; `undefined` if it does not exist. */
  resource(key: Key): Promise<Stored | undefined> {
    return this.#resources.run(key);
  }

  /** The receipt with this key, valid or not. */
  receipt(key: string): Promise<KeptReceipt | undefined> {
    return this.#receipts.run(key);
  }

  /** Resolves when no read is in progress. */
  async drained(): Promise<void> {
    await Promise.all([this.#resources.drained(), this.#receipts.drained()]);
  }

  async #readResources(keys: readonly Key[]): Promise<readonly Outcome<Stored | undefined>[]> {
    const names = [...new Set(keys.map(({ collection }) => collection))];
    const found = new Map<string, ReadonlyMap<string, Stored> | { error: unknown }>();
    await Promise.all(
      names.map(async (name) => {
        const ids = keys.filter(({ collection }) => collection === name).map(({ id }) => id);
        const read = this.#readCollection(name, ids);
        found.set(name, await read.catch((error: unknown) => ({ error })));
      }),
    );
    return keys.map(({ collection, id }) => {
      const resources = found.get(collection);
      return resources !== undefined && "error" in resources ? resources : { answer: resources?.get(id) };
    });
  }

  async #readCollection(name: string, ids: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
    const collection = await this.#options.find(name);
    if (collection === undefined) return new Map();
    const { number, idKind } = collection;
    const keys = new Set(ids.filter(isKeepable).map((id) => keyOf(idKind, id)));
    const { rows } = await this.#options.run(selectResources(number, [...keys]));
    return new Map(rows.map((row) => toStored(collection, row)).map((stored) => [stored.id, stored]));
  }

  async #readReceipts(keys: readonly string[]): Promise<readonly Outcome<KeptReceipt | undefined>[]> {
    const { rows } = await this.#options.run(selectReceipts([...new Set(keys)]));
    const found = new Map(
      rows.map(([key, fingerprint, answer, brief, expiresAt]) => [
        key,
        {
          key: String(key),
          fingerprint: String(fingerprint),
          answer: answer === "" ? undefined : String(answer),
          ...(brief === "" ? {} : { brief: String(brief) }),
          expiresAt: Number(expiresAt),
        },
      ]),
    );
    return keys.map((key) => ({ answer: found.get(key) }));
  }
}

/** The resource in a row of `resourceColumns`. */
export function toStored({ idKind }: NumberedCollection, [key, version, at, text]: Row): Stored {
  return {
    id: idOf(idKind, String(key)),
    version: Number(version),
    text: String(text),
    updatedAt: Number(at),
  };
}
