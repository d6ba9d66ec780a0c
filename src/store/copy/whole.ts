/**
 * A store as a whole, in one neutral form that every kind of store reads and writes: all that it keeps and that an answer
 * may depend on. What only follows from that (indexes, words, who refers to whom) is made anew where it is written.
 */
import type { CollectionRecord } from "../record.ts";

/** What one item consists of. */
export type Cell = string | number | null;

/** One key, receipt, resource or change; the cells are those of its section's columns. */
export type Item = readonly Cell[];

/** A part of a store that is in the order of the first column, in which no two items are equal. */
export type Section =
  | { kind: "keys" | "receipts" }
  /** Resources in the order of lists. */
  | { kind: "resources" | "changes"; collection: string };

/** One column of a section. Every store calls it so, but for the id of resources. */
export interface Column {
  name: string;
  type: "text" | "integer";
}

/** How the items of a section are made up. */
export interface Layout {
  /** The first one is the key. */
  columns: readonly [Column, ...Column[]];
  /** The column whose texts may be long. */
  long: string | undefined;
}

const text = (name: string): Column => ({ name, type: "text" });
const integer = (name: string): Column => ({ name, type: "integer" });

/** How the items of each kind of section are made up. */
export const layouts: Readonly<Record<Section["kind"], Layout>> = {
  keys: {
    columns: [
      text("prefix"),
      ...["hash", "name", "subject", "roles", "scopes"].map(text),
      ...["created_at", "expires_at", "revoked_at", "last_used_at"].map(integer),
    ],
    long: undefined,
  },
  receipts: {
    columns: [text("key"), ...["fingerprint", "answer", "brief"].map(text), integer("expires_at")],
    long: "answer",
  },
  resources: {
    columns: [text("id"), integer("version"), integer("updated_at"), text("doc")],
    long: "doc",
  },
  changes: {
    columns: [
      integer("sequence"),
      text("id"),
      integer("version"),
      text("kind"),
      integer("at"),
      text("principal"),
      integer("group"),
      text("superseded"),
    ],
    long: "superseded",
  },
};

/** A collection without its items. */
export interface CollectionOutline extends Required<CollectionRecord> {
  sequence: number;
  /** Up to which sequence the change log can lack changes. */
  gapsUpTo: number;
  count: number;
  /** No integer id above it was ever used or reserved. */
  lastId: number;
}

/** A store without its items. */
export interface Outline {
  /** The parts of its secret (`../secret.ts`). */
  secret: readonly number[];
  /** The last number that a group of changes was given. */
  groups: number;
  /** In the order in which they were made. */
  collections: readonly CollectionOutline[];
}

/** The outline of a collection, written in one way whatever it was read from. */
export function outlineOf(
  record: CollectionRecord,
  {
    sequence,
    gapsUpTo,
    count,
    lastId,
  }: Pick<CollectionOutline, "sequence" | "gapsUpTo" | "count" | "lastId">,
): CollectionOutline {
  const { name, idKind, schema, indexes, search, unique = [], references = [], timestamps = false } = record;
  const declared = { name, idKind, schema, indexes, search, unique, references, timestamps };
  return { ...declared, sequence, gapsUpTo, count, lastId };
}

/** The sections of a store, in the order in which they are copied. */
export function sectionsOf({ collections }: Outline): readonly Section[] {
  return [
    { kind: "keys" },
    { kind: "receipts" },
    ...collections.flatMap(({ name }): Section[] => [
      { kind: "resources", collection: name },
      { kind: "changes", collection: name },
    ]),
  ];
}

/** How much is read at once: so many items, or of so many bytes of long text if that is less; but at least one. */
export interface PageSize {
  items: number;
  bytes: number;
}

/** Reads a store as a whole. */
export interface Contents {
  outline(): Promise<Outline>;
  /** How many items a section has. */
  count(section: Section): Promise<number>;
  /** The items that come after a key (`undefined`: from the beginning), as many as one page takes; none at the end. */
  items(section: Section, after: Cell | undefined, size: PageSize): Promise<readonly Item[]>;
}

/** A store that is copied. Nobody else can change it while it is open, or what is read is of the moment when it was opened. */
export interface Source extends Contents {
  /** From now on the store is read as it is now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** A store that is made to be like another. Until it is released, it can be opened for nothing else. */
export interface Target extends Contents {
  /** What the last write of an unfinished copy left; `undefined` where there is none. */
  mark(): Promise<string | undefined>;
  /** Makes the collections without their declarations, and leaves the mark. Gives false, and does nothing, where the store is not empty. */
  begin(outline: Outline, mark: string): Promise<boolean>;
  /** Adds items and puts one mark in the place of another, both or none. Throws StartError where another copy has moved the mark. */
  write(section: Section, items: readonly Item[], mark: { before: string; after: string }): Promise<void>;
  /** All items are there: makes the rest be as in the outline, and tells of each collection that is. It may be done again. */
  complete(outline: Outline, onDone: (collection: CollectionOutline) => void): Promise<void>;
  /** Makes it a store like any other. */
  release(): Promise<void>;
  close(): Promise<void>;
}
