/**
 * The contents of a store, in a form that every kind of store reads and writes. It includes everything that responses
 * depend on. Everything derived from it (indexes, search words, tables of references) is created again in the target.
 */

import { createHash } from "node:crypto";
import type { CollectionRecord } from "../../port/record.ts";
import type { Stored } from "../../port/stored.ts";
import type { Dialect } from "../../sql/dialect.ts";
import type { Row, Value } from "../../sql/plans.ts";
import * as tables from "../../sql/table.ts";
import { type Columns, quoteColumn, type RowOf } from "../../sql/table.ts";
import type { NumberedCollection } from "../catalogue.ts";
import {
  checksumOfDeleted,
  checksumOfKey,
  checksumOfReceipt,
  checksumOfResource,
  isIntactChange,
  nameOfChange,
  nameOfDeleted,
  nameOfKey,
  nameOfReceipt,
  nameOfResource,
  wrongChecksum,
} from "../checksums.ts";
import { type LogGaps, lackingUpTo } from "../log-plans.ts";

/** One value of an item. */
export type Cell = string | number | null;

/** A key, a receipt, a resource, a change or a deleted id. The cells are in the order of the section's columns. */
export type Item = readonly Cell[];

/** A part of a store, sorted by the first column. No two items have the same value in it. */
export type Section =
  | { kind: "keys" | "receipts" }
  /** Resources in the order of lists. `deleted`: the ids of deleted resources. */
  | { kind: "resources" | "changes" | "deleted"; collection: string };

/** The columns of each kind of section. All stores name them so, except the id of resources. `long`: the column with long texts. */
export const layouts: Readonly<Record<Section["kind"], { columns: Columns; long?: string }>> = {
  keys: { columns: tables.keys },
  receipts: { columns: tables.receipts, long: "answer" },
  resources: { columns: tables.resources, long: "doc" },
  changes: { columns: tables.changes, long: "superseded" },
  deleted: { columns: tables.deleted },
};

/** The place of a column in the items of a section. */
export function placeOf(kind: Section["kind"], column: string): number {
  return Object.keys(layouts[kind].columns).indexOf(column);
}

/** The table with the items of a section. */
export interface ItemsTable {
  kind: Section["kind"];
  collection: NumberedCollection | undefined;
  name: string;
  /** The names of the columns in SQL, in the order of the layout. */
  columns: readonly string[];
  /** The columns as a statement reads them. */
  shown: string;
  /** The form of a key in the table. */
  toKey(key: Cell): Value;
  /** The item in a row of `shown`. */
  toItem(row: Row): Item;
}

/** The table of a section, which can be one of a collection. */
export function itemsTable(
  dialect: Dialect,
  { kind }: Section,
  collection: NumberedCollection | undefined,
): ItemsTable {
  const columns = Object.entries(layouts[kind].columns);
  const idKind = collection?.idKind;
  const isKeyed = kind === "resources" && idKind !== undefined;
  const names = columns.map(([name]) => (isKeyed && name === "id" ? dialect.keyColumn : quoteColumn(name)));
  const readers = columns.map(([name, type]): ((cell: unknown) => Cell) => {
    if (isKeyed && name === "id") return (key) => dialect.idOf(idKind, key);
    if (type === "text") return String; // damage can change the type of a cell
    const toCell = type === "optionalText" ? String : Number;
    return (cell) => (cell === null ? null : toCell(cell));
  });
  return {
    kind,
    collection,
    name: `${dialect.tablePrefix}${tableOfSection({ kind }, collection?.number)}`,
    columns: names,
    shown: names.map((name) => (name === "doc" ? dialect.doc : name)).join(", "),
    toKey: (key) => (isKeyed ? dialect.keyOf(idKind, String(key)) : key),
    toItem: (row) => readers.map((read, n) => read(row[n])),
  };
}

/** A collection without its items. */
export interface CollectionOutline extends Required<CollectionRecord>, LogGaps {
  sequence: number;
  count: number;
  /** The sum of the checksums of its resources, modulo 2^32. */
  checksums: number;
  /** The greatest integer id that a resource ever had. PostgreSQL also counts reserved ids. */
  lastId: number;
}

/** A store without its items. */
export interface Outline {
  /** The parts of its secret (`../secret.ts`). */
  secret: readonly number[];
  /** The last group number. */
  groups: number;
  /** In the order in which they were created. */
  collections: readonly CollectionOutline[];
}

/** The sections of a store, in the order in which they are copied. */
export function sectionsOf({ collections }: Outline): readonly Section[] {
  return [
    { kind: "keys" },
    { kind: "receipts" },
    ...collections.flatMap(({ name }): Section[] => [
      { kind: "resources", collection: name },
      { kind: "changes", collection: name },
      { kind: "deleted", collection: name },
    ]),
  ];
}

/** The limits of a page of items: their number, and the bytes of their long texts. A page has at least one item. */
export interface PageSize {
  items: number;
  bytes: number;
}

/** The table of a section, without the prefix of the kind of store. `number`: that of the collection. */
export function tableOfSection({ kind }: Pick<Section, "kind">, number: number | undefined): string {
  return number === undefined ? kind : `${kind}_${number}`;
}

/** A row that is not as it was written. */
export interface DamagedItem {
  /** The name of the row in messages. */
  name: string;
  /** What is wrong with it. */
  reason: string;
}

/** What is wrong with a row; `undefined` if the row is intact. */
export function damagedIn(section: Section, item: Item): DamagedItem | undefined {
  const row = Object.fromEntries(
    Object.keys(layouts[section.kind].columns).map((name, n) => [name, item[n] ?? undefined]),
  );
  const { name, isIntact } = inspected(section, row);
  const isWide = ([column, type]: readonly [string, string]) =>
    (type === "int" || type === "optionalInt") &&
    row[column] !== undefined &&
    !Number.isSafeInteger(row[column]);
  const wide = Object.entries(layouts[section.kind].columns).filter(isWide);
  if (wide.length > 0) {
    const columns = wide.map(([column]) => `"${column}"`).join(", ");
    return { name, reason: `${columns} has a number that the service never writes` };
  }
  return isIntact ? undefined : { name, reason: wrongChecksum };
}

/** The name of a row, and whether its checksum is right. */
function inspected(section: Section, row: Record<string, unknown>): { name: string; isIntact: boolean } {
  // The columns of the layout are those of the table.
  switch (section.kind) {
    case "keys": {
      const key = row as KeyRow;
      return { name: nameOfKey(key), isIntact: checksumOfKey(key) === key.checksum };
    }
    case "receipts": {
      const receipt = row as ReceiptRow;
      return { name: nameOfReceipt(receipt), isIntact: checksumOfReceipt(receipt) === receipt.checksum };
    }
    case "resources": {
      const { id, version, updated_at: updatedAt, doc, checksum } = row;
      const stored = { id, version, updatedAt, text: doc } as Stored;
      const isIntact = checksumOfResource(section.collection, stored) === checksum;
      return { name: nameOfResource(section.collection, stored.id), isIntact };
    }
    case "changes": {
      const change = row as RowOf<typeof tables.changes>;
      const name = nameOfChange(section.collection, change);
      return { name, isIntact: isIntactChange(section.collection, change) };
    }
    case "deleted": {
      const deleted = row as RowOf<typeof tables.deleted>;
      const isIntact = checksumOfDeleted(section.collection, deleted) === deleted.checksum;
      return { name: nameOfDeleted(section.collection, deleted), isIntact };
    }
  }
}

/** Whether a log lacks changes between two that follow each other in it. `before` is 0 for the first one. */
export function hasGap(before: number, sequence: number, gaps: LogGaps): boolean {
  return sequence !== before + 1 && sequence > lackingUpTo(gaps) + 1;
}

/** Whether a log lacks changes at its end. `last`: the sequence of its last one; 0 without one. */
export function lacksEnd(last: number, { sequence, ...gaps }: LogGaps & { sequence: number }): boolean {
  return Math.max(last, lackingUpTo(gaps)) < sequence;
}

/** What a message says about a log for which `hasGap` is true. */
export function gapBefore(sequence: number, collection: string): string {
  return `The change log of ${collection} is damaged in the store: changes before ${sequence} are missing`;
}

/** What a message says about a log for which `lacksEnd` is true. */
export function endMissing(last: number, sequence: number, collection: string): string {
  return `The change log of ${collection} is damaged in the store: the changes after ${last}, up to ${sequence}, are missing, or its counter is wrong`;
}

type KeyRow = RowOf<typeof tables.keys>;
type ReceiptRow = RowOf<typeof tables.receipts>;

/** Reads a store as a whole. */
export interface Contents {
  /** The store without its items. */
  outline(): Promise<Outline>;
  /** The number of items in a section. */
  count(section: Section): Promise<number>;
  /** The items after a key, up to the size of a page; the first ones if the key is `undefined`. Empty at the end. */
  items(section: Section, after: Cell | undefined, size: PageSize): Promise<readonly Item[]>;
}

/**
 * The source of a copy. While it is open, no other process can change it, or all reads see the state at the time of
 * opening.
 */
export interface CopySource extends Contents {
  /** Makes all further reads see the current state. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** The target of a copy. Until `release`, it cannot be opened for anything else. */
export interface CopyTarget extends Contents {
  /** The mark of an incomplete copy; `undefined` if there is no incomplete copy. */
  mark(): Promise<string | undefined>;
  /**
   * Creates the collections without their declarations, and writes the mark. Returns false, and changes nothing, if the
   * store is not empty.
   */
  begin(outline: Outline, mark: string): Promise<boolean>;
  /** Adds items and replaces the mark, in one transaction. Throws StartError if another copy has moved the mark. */
  write(section: Section, items: readonly Item[], mark: { before: string; after: string }): Promise<void>;
  /**
   * Completes the store after all items are written: declarations, counters, indexes and search words. Calls `onDone`
   * after each collection. It can be repeated.
   */
  complete(outline: Outline, onDone: (collection: CollectionOutline) => void): Promise<void>;
  /** Removes the mark, so that the store can be used. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** The outline of a store, and the numbers of its items. */
export interface Survey {
  outline: Outline;
  sections: readonly { section: Section; count: number }[];
  /** The number of items in all sections. */
  total: number;
  /** The number of resources among these items. */
  resources: number;
  /** A checksum of the outline and all counts. It changes with every collection, counter and number of items. */
  checksum: string;
}

/** Surveys a store. */
export async function survey(contents: Contents): Promise<Survey> {
  const outline = await contents.outline();
  const sections: { section: Section; count: number }[] = [];
  for (const section of sectionsOf(outline)) {
    const count =
      section.kind === "resources" ? countIn(outline, section.collection) : await contents.count(section);
    sections.push({ section, count });
  }
  const total = sections.reduce((sum, { count }) => sum + count, 0);
  const checksum = createHash("sha256").update(JSON.stringify({ outline, sections })).digest("base64url");
  const resources = outline.collections.reduce((sum, { count }) => sum + count, 0);
  return { outline, sections, total, resources, checksum };
}

/** The number of resources, from the counter of the collection. */
function countIn({ collections }: Outline, name: string): number {
  return collections.find((each) => each.name === name)?.count ?? 0;
}
