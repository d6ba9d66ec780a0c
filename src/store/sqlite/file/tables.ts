/**
 * The tables of a store's file.
 *
 * A collection has two, named by its number: its resources, and the log of their changes. A change holds what is
 * kept of the text that it superseded (`store/superseded.ts`), so that a create stores its text once. Where a collection is searched, it has a third for
 * the words (`../list/search.ts`), and `searches` says of which attributes they are and up to which key they are there.
 */
import type { IdKind } from "../../../collection/ids.ts";
import { integerOf } from "../../integer-ids.ts";

/** Marks a file as a store of this program: "Hold" in ASCII. */
export const applicationId = 0x486f6c64;

/** The format that this program reads and writes. Raise it with every change to the tables. */
export const formatNumber = 3;

/**
 * The oldest format that this program raises to its own. In format 2, changes kept whole texts alone. No release ever wrote a
 * format below it.
 */
export const firstFormatNumber = 2;

/** The table of API keys, which a file that was made before there were keys lacks. */
export const keysTable = `
  create table if not exists keys (
    prefix text primary key not null,
    hash text not null,
    name text not null,
    subject text not null,
    roles text not null,
    scopes text,
    created_at integer not null,
    expires_at integer,
    revoked_at integer,
    last_used_at integer
  ) strict;
`;

/** The table of a copy's mark, which is there as long as the copy into this file is not finished. */
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
    uniques text not null default '[]',
    refers text not null default '[]',
    timestamps integer not null default 0
  ) strict;
  create table heads (
    number integer primary key,
    sequence integer not null,
    count integer not null,
    last_id integer not null
  ) strict;
  create table searches (
    number integer primary key,
    paths text not null,
    words_version text not null,
    indexed_to integer
  ) strict;
  create table receipts (
    key text primary key not null,
    fingerprint text not null,
    answer text not null,
    expires_at integer not null,
    brief text not null default ''
  ) strict;
  create index receipts_by_expiry on receipts (expires_at);
  ${keysTable}
  create index receipts_with_answer on receipts (expires_at) where answer <> '';
  pragma application_id = ${applicationId};
`;

/**
 * The tables of a new collection. An id is an integer or a text (`any`), so that its order is the order of
 * lists. A key of its own, which is SQLite's rowid: measured at 100,000 resources, a table keyed by the id is as fast to
 * read at 250 bytes a resource and three times as slow at 3,000.
 */
export function collectionTables(number: number): string {
  return `
    create table ${resourcesTable(number)} (
      key integer primary key,
      id any not null unique,
      version integer not null,
      updated_at integer not null,
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
      superseded text
    ) strict;
    ${changesIndex(number)}
  `;
}

/** What the history of one resource is found by, in the log of its collection. */
export function changesIndex(number: number): string {
  const table = changesTable(number);
  return `create index if not exists ${table}_by_resource on ${table} (id, version);`;
}

/** The name of the table of a collection's resources. */
export function resourcesTable(number: number): string {
  return `resources_${number}`;
}

/** The name of the table of the changes to a collection's resources. */
export function changesTable(number: number): string {
  return `changes_${number}`;
}

/** The value of an id in a table of resources. Integers come before texts, as in lists. */
export function toSqliteId(kind: IdKind, id: string): string | bigint {
  const integer = integerOf(kind, id);
  return integer === undefined ? id : BigInt(integer);
}

/** Quotes a name. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
