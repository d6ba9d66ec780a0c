/**
 * The tables of a store's file.
 *
 * Each collection has a table of its resources, a table of their changes, a table of deleted ids
 * (`store/core/commits/lookups.ts`), and a table of entries (`store/core/entries.ts`). A collection with references has a table of
 * the ids in them. The number of the collection is part of the names of its tables. A change contains the text that it superseded
 * (`store/core/superseded.ts`), so a create stores its text only once.
 *
 * Rows have checksums (`store/core/checksums.ts`). In a head, `checksums` is the sum of the checksums of the resources, modulo
 * 2^32. The head also tells which changes the log can lack (`LogGaps` in `store/core/log-plans.ts`).
 *
 * A collection with search also has a table of words (`../list/search.ts`). While the indexes and words of a collection are built,
 * its head has the key up to which they are (`store/core/building.ts`).
 */

import { type IdKind, integerOf } from "../../../collection/ids.ts";
import { tableNames } from "../../sql/table.ts";

/** The application id in the header of every store: "Hold" in ASCII. */
export const applicationId = 0x486f6c64;

/** The format that this version reads and writes. Raise it with every change of the tables. */
export const formatNumber = 10;

/** The table with the mark of a copy into this file. It exists until the copy is complete. */
export const copyingTable = "copying";

/** The tables of a new file. */
export const storeTables = `
  create table meta (name text primary key not null, value integer not null) strict, without rowid;
  insert into meta values ('format', ${formatNumber}), ('groups', 0), ('receipts', 0), ('answers', 0);
  create table collections (
    number integer primary key,
    name text not null unique,
    id_kind text not null,
    schema text,
    indexes text not null,
    search text not null,
    uniques text not null,
    refers text not null,
    timestamps integer not null,
    slots text not null
  ) strict;
  create table heads (
    number integer primary key,
    sequence integer not null,
    count integer not null,
    last_id integer not null,
    checksums integer not null,
    gaps_up_to integer not null default 0,
    unlogged_up_to integer not null default 0,
    trimmed_up_to integer not null default 0,
    words_version text,
    built_to integer
  ) strict;
  create table receipts (
    key text primary key not null,
    fingerprint text not null,
    answer text not null,
    expires_at integer not null,
    brief text not null,
    checksum integer not null
  ) strict;
  create index receipts_by_expiry on receipts (expires_at);
  create index receipts_with_answer on receipts (expires_at) where answer <> '';
  create table keys (
    prefix text primary key not null,
    hash text not null,
    name text not null,
    subject text not null,
    roles text not null,
    scopes text,
    created_at integer not null,
    expires_at integer,
    revoked_at integer,
    last_used_at integer,
    checksum integer not null
  ) strict;
  pragma application_id = ${applicationId};
`;

/**
 * The tables of a new collection. An id is an integer or a text (`any`), so SQLite sorts ids in the order of lists. The
 * primary key is SQLite's rowid. With the id as primary key, reads of 100,000 resources took the same time with 250 bytes a
 * resource, and three times as long with 3,000 bytes.
 */
export function collectionTables(number: number): string {
  return `
    create table ${resourcesTable(number)} (
      key integer primary key,
      id any not null unique,
      version integer not null,
      updated_at integer not null,
      checksum integer not null,
      doc text not null
    ) strict;
    create table ${changesTable(number)} (
      sequence integer primary key,
      id text not null,
      version integer not null,
      kind text not null,
      at integer not null,
      principal text,
      "group" integer,
      superseded text,
      kept_checksum integer,
      checksum integer not null
    ) strict;
    create index ${changesTable(number)}_by_resource on ${changesTable(number)} (id, version);
    create table ${deletedTable(number)} (
      id text primary key not null, version integer not null, checksum integer not null
    ) strict, without rowid;
    create table ${entriesTable(number)} (
      slot integer not null, k blob not null, row integer not null,
      ${valueColumns.map((name) => `${name} any`).join(", ")}, primary key (slot, k)
    ) strict, without rowid;
  `;
}

/** The names of the tables of a collection. That of references exists only for a collection with references. */
export const { resourcesTable, changesTable, deletedTable, referencesTable } = tableNames("");

/** The columns of an entry with the values of the attributes, for figures. An index has at most five. */
export const valueColumns = ["v1", "v2", "v3", "v4", "v5"] as const;

/** The name of the table of entries. Their column `row` is the key of the resource. */
export function entriesTable(number: number): string {
  return `entries_${number}`;
}

/** The statements that create the table of references. */
export function referencesDdl(number: number): string {
  const table = referencesTable(number);
  return `
    create table ${table} (
      attribute text not null, target text not null, key integer not null, primary key (attribute, target, key)
    ) strict, without rowid;
    create index ${table}_by_key on ${table} (key);
  `;
}

/** The value of an id in a table of resources. Integers come before texts, as in lists. */
export function toSqliteId(kind: IdKind, id: string): string | bigint {
  const integer = integerOf(kind, id);
  return integer === undefined ? id : BigInt(integer);
}

/** Quotes the name of a table, column or index. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
