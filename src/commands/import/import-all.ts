/** Imports inputs into their collections in one transaction: all of them, or nothing. */
import type { Collection } from "../../collection/collection.ts";
import { requireFit } from "../../fit.ts";
import { type CollectionInput, type ItemOptions, importCollection } from "../../import/collection-import.ts";
import type { ImportResult } from "../../import/item-reader.ts";
import { type CollectionRecord, recordOf, withoutInternal } from "../../store/port/record.ts";
import type { Load, Store } from "../../store/port/store.ts";

/** How to import several inputs. */
export interface ImportOptions extends ItemOptions {
  /** Check everything, but write nothing. @default false */
  isDryRun?: boolean;
  /** Throw NotEmpty if the store has a history, even if all its resources are deleted. @default false */
  onlyIfEmpty?: boolean;
}

/** The store must be empty for this import, but these collections contain or contained resources. */
export class NotEmpty extends Error {
  readonly collections: readonly string[];

  constructor(collections: readonly string[]) {
    super(`The store is not empty: ${collections.join(", ")}`);
    this.collections = collections;
  }
}

const advice =
  '. To keep them, start the service once with "npx holdfast serve --accept", stop it, and import again.';

/**
 * Imports inputs that can refer to each other, and creates their collections if necessary. Writes nothing if a result is not
 * accepted, or if an input throws. Throws StartError if a reference leads to no resource after the import. Throws NotEmpty
 * with `onlyIfEmpty`.
 */
export async function importAll(
  store: Store,
  inputs: readonly CollectionInput[],
  { isDryRun = false, onlyIfEmpty = false, ...options }: ImportOptions,
): Promise<ImportResult[]> {
  for (const { collection } of inputs) await requireFit(store, collection, ["unique", "references"], advice);
  const names = inputs.map(({ collection }) => collection.name);
  let transaction: Load | undefined;
  try {
    const results: ImportResult[] = [];
    for (const input of inputs) {
      const record = recordFor(input.collection, store.collections());
      if (transaction === undefined) {
        transaction = await store.load(record, { among: names });
        if (onlyIfEmpty) await requireEmpty(store); // the transaction keeps other imports out
      } else await transaction.next(record);
      results.push(await importCollection(transaction, input, options));
      options.signal.throwIfAborted();
    }
    const isWritten = !isDryRun && results.every(({ isAccepted }) => isAccepted);
    await (isWritten ? transaction?.finish() : transaction?.cancel());
    return results;
  } catch (error) {
    await transaction?.cancel().catch(() => {}); // the first error is the one to report
    throw error;
  }
}

async function requireEmpty(store: Store): Promise<void> {
  const names = withoutInternal(await store.collectionNames());
  const pages = await Promise.all(names.map((collection) => store.list({ collection, limit: 1 })));
  const written = names.filter((_, n) => (pages[n]?.sequence ?? 0) > 0);
  if (written.length > 0) throw new NotEmpty(written.toSorted());
}

/**
 * The record of a collection for the import. If the store has another schema than the configuration, the record has no
 * schema. The next start then checks all resources. It also applies the option `timestamps`.
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
