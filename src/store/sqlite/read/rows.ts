/** Rows of statements that return arrays, and the resources in them. */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { intactResource } from "../../core/checksums.ts";
import { maxPageBytes } from "../../port/page.ts";
import type { Stored } from "../../port/stored.ts";

/** The values of a row, in the order of its columns. */
export type Row = readonly unknown[];

/** The columns of a resource, in the order that `toStored` reads. */
export const resourceColumns = "id, version, updated_at, doc, checksum";

/** The resource in a row of `resourceColumns`. Throws DATA_DAMAGED. */
export function toStored(collection: string, row: Row): Stored {
  const stored = {
    id: String(row[0]),
    version: Number(row[1]),
    text: String(row[3]),
    updatedAt: Number(row[2]),
  };
  return intactResource(collection, stored, row[4]);
}

/** The first row; `undefined` if there is none. */
export function firstRow(statement: StatementSync, ...values: SQLInputValue[]): Row | undefined {
  return withBigIntsIfNeeded(statement, () => statement.get(...values) as unknown as Row | undefined);
}

/** All rows. */
export function allRows(statement: StatementSync, ...values: SQLInputValue[]): Row[] {
  return withBigIntsIfNeeded(statement, () => statement.all(...values) as unknown as Row[]);
}

/** A page while it is being read. */
export interface PartialPage {
  items: Stored[];
  /** The bytes of the texts of `items`. */
  bytes: number;
  isTruncated: boolean;
}

/** Adds resources to a page until their texts reach `maxPageBytes`. A page has at least one resource. */
export function fillPage(
  page: PartialPage,
  { statement, collection }: { statement: StatementSync; collection: string },
  values: readonly SQLInputValue[],
): void {
  const { bytes } = page;
  const { length } = page.items;
  withBigIntsIfNeeded(statement, () => {
    page.items.length = length;
    page.bytes = bytes;
    for (const row of statement.iterate(...values)) {
      const stored = toStored(collection, row as unknown as Row);
      page.bytes += Buffer.byteLength(stored.text);
      page.isTruncated = page.items.length > 0 && page.bytes > maxPageBytes;
      if (page.isTruncated) return;
      page.items.push(stored);
    }
  });
}

/**
 * Runs a statement again with big integers if it returns an integer above 2^53. `node:sqlite` throws on such an integer. Only
 * damage or another program can have made it. With it, the checksum of the row is wrong, and the error names the resource.
 */
export function withBigIntsIfNeeded<T>(statement: StatementSync, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE")) throw error;
    statement.setReadBigInts(true);
    try {
      return run();
    } finally {
      statement.setReadBigInts(false);
    }
  }
}
