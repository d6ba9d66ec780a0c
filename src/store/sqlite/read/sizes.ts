/** The sizes of collections: read from the file, and kept in memory until the collections have changed noticeably. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as pass } from "node:timers/promises";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { changesTable, deletedTable, entriesTable, referencesTable, resourcesTable } from "../file/tables.ts";
import { searchTable } from "../list/search.ts";

/**
 * How many pages of a tree are read: 64 MiB. With 1,000,000 resources, the estimates of the trees were wrong by at most 1 %.
 * With a quarter of the pages, they were wrong by up to 18 %.
 */
const maxTreePages = 16_384;

/** So many pages of a tree are read even without time, because an estimate from fewer can be far wrong. */
const minTreePages = 64;

/** How trees are read. */
export interface Walk {
  /** Called for each page. It throws to end the walk. */
  onPage(): void;
  /** The most time for one collection, in milliseconds. When it is over, the sizes of the trees are estimated. */
  maxMs: number;
  /** After this many pages, the size of a tree is estimated. @default maxTreePages */
  maxPages?: number;
  /** The present time in milliseconds. @default performance.now */
  now?(): number;
}

/**
 * About how many bytes each of the collections with these numbers takes: its resources, changes, entries, references, deleted ids and
 * words, with indexes. No collection begins after `maxMs`, so the result can be only about the first ones. It has at least one.
 */
export function collectionSizes(database: DatabaseSync, numbers: readonly number[], walk: Walk): number[] {
  const { now = () => performance.now(), maxMs } = walk;
  const end = now() + maxMs;
  const sizes: number[] = [];
  for (const number of numbers) {
    if (sizes.length > 0 && now() >= end) break;
    sizes.push(collectionSize(database, number, { ...walk, now }));
  }
  return sizes;
}

function collectionSize(
  database: DatabaseSync,
  number: number,
  walk: Walk & Required<Pick<Walk, "now">>,
): number {
  const { onPage, maxPages = maxTreePages, maxMs, now } = walk;
  const trees = database
    .prepare(
      `select name from sqlite_schema
       where rootpage > 0 and (tbl_name in (?, ?, ?, ?, ?) or tbl_name glob ?)`,
    )
    .all(
      ...[resourcesTable, changesTable, referencesTable, deletedTable, entriesTable].map((table) =>
        table(number),
      ),
      `${searchTable(number)}_*`,
    );
  const pages = database.prepare("select path, pagetype, ncell, pgsize from dbstat where name = ?");
  pages.setReturnArrays(true);
  const end = now() + maxMs;
  let bytes = 0;
  for (const { name } of trees) {
    const start = now();
    const treeEnd = start + (end - start) / 2; // the later trees share the other half
    const isEnough = (count: number) => count >= maxPages || (count >= minTreePages && now() >= treeEnd);
    bytes += treeSize(pages, String(name), { onPage, isEnough });
  }
  return Math.round(bytes);
}

type PageRow = [path: string, type: "internal" | "leaf" | "overflow", cells: number, bytes: number];

interface TreeWalk extends Pick<Walk, "onPage"> {
  /** Whether the size is estimated after this many pages. */
  isEnough(count: number): boolean;
}

/** The size of one tree. The path of a page says which part of the tree is to its left. */
function treeSize(pages: StatementSync, tree: string, { onPage, isEnough }: TreeWalk): number {
  /** How many children the ancestors of the present page have, from the root. */
  const children: number[] = [];
  let count = 0;
  let bytes = 0;
  for (const row of pages.iterate(tree) as Iterable<unknown> as Iterable<PageRow>) {
    onPage();
    const [path, type, cells, size] = row;
    if (type !== "overflow" && isEnough(count)) {
      const part = partBefore(stepsOf(path), children);
      if (part > 0) return bytes / part;
    }
    if (type === "internal") children[stepsOf(path).length] = cells + 1;
    count++;
    bytes += size;
  }
  return bytes;
}

/** The steps from the root to a page: which child to take, in hexadecimal digits. */
function stepsOf(path: string): readonly string[] {
  return path.split("/").slice(1, -1);
}

/** Which part of a tree is to the left of the page with this path, if all children of a page are equally large. */
function partBefore(steps: readonly string[], children: readonly number[]): number {
  let part = 0;
  let share = 1;
  for (const [depth, step] of steps.entries()) {
    share /= children[depth] as number;
    part += Number.parseInt(step, 16) * share;
  }
  return part;
}

/** A size is read again after more than this many changes for each resource. */
const maxChange = 0.05;

/** A new index changes the size, but not the sequence. So a size is read again after this time, in milliseconds. */
const maxAgeMs = 300_000;

/** A collection, and its counters now. */
export interface Asked {
  collection: NumberedCollection;
  sequence: number;
  count: number;
}

/** What the sizes depend on. */
export interface SizesOptions {
  /** Reads the sizes of the first of these collections, in bytes: at least one, and as many as fit its time. */
  measure(collections: readonly NumberedCollection[]): Promise<readonly number[]>;
  /** The most time that one call waits, in milliseconds. */
  maxWaitMs: number;
  /** The present time in milliseconds. @default Date.now */
  now?(): number;
}

interface Kept {
  bytes: number;
  sequence: number;
  at: number;
}

/** The sizes of one store. It reads one after the other, so that the threads have time for lists. */
export class Sizes {
  readonly #measure: SizesOptions["measure"];
  readonly #maxWaitMs: number;
  readonly #now: () => number;
  /** By the number of the collection. */
  readonly #kept = new Map<number, Kept>();
  /** What is still to be read, by the number of the collection. */
  readonly #due = new Map<number, Asked>();
  #reading: Promise<void> | undefined;

  constructor({ measure, maxWaitMs, now = Date.now }: SizesOptions) {
    this.#measure = measure;
    this.#maxWaitMs = maxWaitMs;
    this.#now = now;
  }

  /**
   * The last known sizes by name. Sizes that are missing or old are read now, for a later call. The call waits for them only
   * if it would have no size at all.
   */
  async of(asked: readonly Asked[]): Promise<ReadonlyMap<string, number>> {
    for (const each of asked) if (!this.#isRecent(each)) this.#due.set(each.collection.number, each);
    if (this.#due.size > 0) this.#reading ??= this.#readAll();
    const isKnown = asked.some(({ collection }) => this.#kept.has(collection.number));
    if (!isKnown && this.#reading !== undefined) await this.#waitFor(this.#reading);
    const found = new Map<string, number>();
    for (const { collection } of asked) {
      const kept = this.#kept.get(collection.number);
      if (kept !== undefined) found.set(collection.name, kept.bytes);
    }
    return found;
  }

  #isRecent({ collection, sequence, count }: Asked): boolean {
    const kept = this.#kept.get(collection.number);
    if (kept === undefined || this.#now() - kept.at > maxAgeMs) return false;
    return sequence - kept.sequence <= count * maxChange;
  }

  /** Waits until everything is read, but not longer than a call can take. */
  async #waitFor(reading: Promise<void>): Promise<void> {
    const read = new AbortController();
    const over = pass(this.#maxWaitMs, undefined, { ref: false, signal: read.signal }).catch(() => {});
    await Promise.race([reading, over]);
    read.abort();
  }

  /** Reads everything that is due. After an error, the next call begins again. */
  async #readAll(): Promise<void> {
    try {
      while (this.#due.size > 0) await this.#readSome([...this.#due.values()]);
    } catch {
      this.#due.clear(); // the callers can do without the sizes
    } finally {
      this.#reading = undefined;
    }
  }

  async #readSome(due: readonly Asked[]): Promise<void> {
    const sizes = await this.#measure(due.map(({ collection }) => collection));
    for (const [place, bytes] of sizes.entries()) {
      const { collection, sequence } = due[place] as Asked;
      this.#kept.set(collection.number, { bytes, sequence, at: this.#now() });
      this.#due.delete(collection.number);
    }
  }
}
