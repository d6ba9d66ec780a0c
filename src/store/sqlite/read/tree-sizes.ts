/**
 * How many bytes of the file a collection takes. SQLite's table `dbstat` (https://sqlite.org/dbstat.html) has a row for each
 * page of a B-tree, from left to right. The size of a long tree is estimated from its left part, so the work is limited.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { changesTable, deletedTable, entriesTable, refersTable, resourcesTable } from "../file/tables.ts";
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
      ...[resourcesTable, changesTable, refersTable, deletedTable, entriesTable].map((table) =>
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
