/** An import in the writer thread. Its transaction stays open over many requests. */

import type { Unique } from "../../../collection/unique.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { addImported, findHolders, type Importing, refuseLost } from "../../core/commits/imported.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { Added, ImportedResource, LoadOptions } from "../../port/store.ts";
import type { Stored } from "../../port/stored.ts";
import type { Cell, Refused as RefusedTask } from "../commit/protocol.ts";
import { InvalidStateError } from "../file/failures.ts";
import { collectionOf } from "../sqlite-dialect.ts";
import type { TaskParts } from "./commits.ts";

/** The page cache during an import. With a smaller cache, an import would write the same pages to the log several times. */
const cacheKibibytes = 128 * 1024;

interface ImportInProgress extends Importing {
  /** The work before the commit. */
  completions: readonly (() => void)[];
}

/** Carries out imports, one at a time. A rollback of the transaction cancels the import. */
export class WriterLoad {
  readonly #parts: TaskParts;
  readonly #usualCacheSize: number;
  #current: ImportInProgress | undefined;

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.#usualCacheSize = Number(parts.database.prepare("pragma cache_size").get()?.cache_size);
  }

  /**
   * Starts an import, or continues the one in progress with another collection. `into` is the number of a collection, or
   * the declaration of one to create or change. Returns the number. `finish` checks references to the collections `among`.
   */
  begin(into: number | CollectionRecord, { at, among, principal }: Required<LoadOptions>): number {
    const { collections, declarations, transactions } = this.#parts;
    const before = this.#current ?? this.#open(at, principal);
    const number = typeof into === "number" ? into : declarations.takeOver(into);
    const collection = collectionOf(collections, number);
    this.#current = {
      ...before,
      collections: [...before.collections, collection],
      completions: [...before.completions, this.#prepare(collection)],
      collection,
      among: [...among, collection.name],
    };
    transactions.keepOpen();
    return number;
  }

  #open(at: number, principal: string | null): Omit<ImportInProgress, "collection" | "among"> {
    const { commits, ids, transactions } = this.#parts;
    transactions.begin();
    transactions.onRollBack(ids.remember());
    transactions.onRollBack(() => this.#end());
    this.#setCacheSize(-cacheKibibytes);
    return { collections: [], completions: [], at, origin: { principal, group: commits.nextGroup() } };
  }

  /**
   * Adds resources. `cells` are ids, texts, the versions that they replace, and who ends them, or null, in turn.
   */
  add(cells: readonly Cell[]): Added {
    const importing = this.#require();
    const imported: ImportedResource[] = [];
    for (let cell = 0; cell < cells.length; cell += 4) {
      const [id, text, replaces, endedBy] = cells.slice(cell, cell + 4) as [
        string,
        string,
        number | null,
        string | null,
      ];
      imported.push({
        id,
        text,
        ...(replaces !== null && { replaces }),
        ...(endedBy !== null && { endedBy }),
      });
    }
    const { commits } = this.#parts;
    return commits.run(addImported(this.#parts, commits.judging(), importing, imported));
  }

  /** The resources that have these values in a unique attribute. */
  holders(unique: Unique, values: readonly string[]): (Stored | undefined)[] {
    const { commits } = this.#parts;
    return commits.run(findHolders(commits.judging(), this.#require(), unique, values));
  }

  /** The reason why the import cannot be committed. */
  check(): RefusedTask | undefined {
    const { commits } = this.#parts;
    const refusal = commits.run(refuseLost(commits.judging(), this.#require()));
    return refusal && { refusal };
  }

  /** Commits the import. If it must be refused, rolls it back and returns the reason. */
  finish(): RefusedTask | undefined {
    const { transactions } = this.#parts;
    const refused = this.check();
    const { completions } = this.#require();
    if (refused !== undefined) {
      transactions.rollBack();
      return refused;
    }
    for (const complete of completions) complete();
    transactions.commit();
    this.#end();
    return undefined;
  }

  /** The entries of an empty collection are built at the end, which is faster than one by one. */
  #prepare(collection: NumberedCollection): () => void {
    const { entries, heads, transactions } = this.#parts;
    if (heads.of(collection.number).count > 0) return () => {};
    const { build, resume } = entries.suspend(collection);
    transactions.onRollBack(resume);
    return build;
  }

  #require(): ImportInProgress {
    if (this.#current === undefined) throw new InvalidStateError("No import is in progress.");
    return this.#current;
  }

  #end(): void {
    this.#current = undefined;
    this.#setCacheSize(this.#usualCacheSize);
  }

  #setCacheSize(size: number): void {
    this.#parts.database.exec(`pragma cache_size = ${size}`);
  }
}
