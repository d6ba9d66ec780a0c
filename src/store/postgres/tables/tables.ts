/**
 * The tables of a store.
 *
 * Each collection has four tables, named by its number: its resources, its change log, the references of its resources, and
 * the ids of deleted resources (`store/core/commits/lookups.ts`). A collection with search also has a table of words. A change keeps the text that it superseded, or a
 * difference (`store/core/superseded.ts`), so a create stores its text once. `keys` has the key of a resource in each declared
 * index (`key-column.ts`). The head of a collection is the last row that a commit locks; its `checksums` is the sum of the checksums
 * of the resources (`store/core/checksums.ts`), and it tells which changes the log can lack (`LogGaps`). Only one transaction can have
 * this lock, so sequences have the order of the commits.
 */
import { tableNames } from "../../sql/table.ts";

/**
 * The format that this program reads and writes. Raise it with every change of the tables. A program that changes the tables of
 * an existing store also raises `declared` of every head, in the same transaction. An instance of the older version that still
 * runs then reads the catalogue again before its next write, and refuses to use it (`declared-catalogue.ts`).
 */
export const formatNumber = 10;

/** The names of the tables of a collection. */
export const { resourcesTable, changesTable, deletedTable, referencesTable } = tableNames("holdfast_");

/** SQL for the table or index of the store with this name (a text in SQL); null if it does not exist. */
export function ownRelation(name: string): string {
  return `to_regclass(quote_ident(current_schema()) || '.' || ${name})`;
}

/** SQL for the table of a copy's mark, which exists while the copy into this database is incomplete; otherwise null. */
export const findCopyingTable = ownRelation("'holdfast_copying'");

/** The tables of a new store, one statement each. */
export const storeTables: readonly string[] = [
  "create table if not exists holdfast_meta (name text primary key, value bigint not null)",
  `create table if not exists holdfast_collections (
    number integer primary key,
    name text collate "C" not null unique,
    id_kind text not null,
    schema text,
    indexes text not null,
    search text not null,
    uniques text not null,
    refers text not null,
    timestamps boolean not null,
    slots text not null
  )`,
  `create table if not exists holdfast_heads (
    number integer primary key,
    sequence bigint not null default 0,
    count bigint not null default 0,
    checksums bigint not null default 0,
    gaps_up_to bigint not null default 0,
    unlogged_up_to bigint not null default 0,
    trimmed_up_to bigint not null default 0,
    words bigint not null default 0,
    words_version text,
    built_to text,
    declared integer not null
  )`,
  "create table if not exists holdfast_ids (number integer primary key, last_id bigint not null default 0)",
  `create table if not exists holdfast_receipts (
    key text collate "C" primary key,
    fingerprint text not null,
    answer text not null,
    brief text not null,
    expires_at bigint not null,
    checksum integer not null
  )`,
  "create index if not exists holdfast_receipts_by_expiry on holdfast_receipts (expires_at)",
  "create index if not exists holdfast_receipts_with_answer on holdfast_receipts (expires_at) where answer <> ''",
  `create table if not exists holdfast_keys (
    prefix text collate "C" primary key,
    hash text not null,
    name text not null,
    subject text not null,
    roles text not null,
    scopes text,
    created_at bigint not null,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint,
    checksum integer not null
  )`,
  // What folding makes of each character that it changes (`collection/folding.ts`), by the version of the folding.
  `create table if not exists holdfast_folds (
    version text collate "C" not null,
    character text collate "C" not null,
    folded text collate "C" not null,
    primary key (version, character)
  )`,
  `insert into holdfast_meta values ('format', ${formatNumber}), ('groups', 0), ('receipts', 0), ('answers', 0)
    on conflict do nothing`,
];

/** The tables of a new collection, one statement each. */
export function collectionTables(number: number): readonly string[] {
  const changes = changesTable(number);
  const refers = referencesTable(number);
  return [
    `create table ${resourcesTable(number)} (
      key text collate "C" primary key,
      version bigint not null,
      updated_at bigint not null,
      size integer not null,
      keys bytea[],
      checksum integer not null,
      doc json not null
    )`,
    `create table ${changes} (
      sequence bigint primary key,
      id text collate "C" not null,
      version bigint not null,
      kind text not null,
      at bigint not null,
      principal text,
      "group" bigint,
      superseded text,
      kept_checksum integer,
      checksum integer not null
    )`,
    `create index ${changes}_by_resource on ${changes} (id, version)`,
    `create table ${refers} (
      attribute text collate "C" not null,
      target text collate "C" not null,
      key text collate "C" not null,
      primary key (attribute, target, key)
    )`,
    `create index ${refers}_by_key on ${refers} (key)`,
    `create table ${deletedTable(number)} (
      id text collate "C" primary key,
      version bigint not null,
      checksum integer not null
    )`,
  ];
}

/**
 * The table of a collection's words: how often each word occurs in a resource. The empty word has the number of all
 * words.
 */
export function wordsTables(number: number): readonly string[] {
  const words = wordsTable(number);
  return [
    `create table ${words} (
      word text collate "C" not null,
      key text collate "C" not null,
      times integer not null,
      primary key (word, key)
    )`,
    `create index ${words}_by_key on ${words} (key)`,
  ];
}

/** The names of all tables of a collection. The table of words may not exist. */
export function tablesOf(number: number): readonly string[] {
  return [resourcesTable, changesTable, deletedTable, referencesTable, wordsTable].map((table) =>
    table(number),
  );
}

/** The name of the table with a collection's search words. */
export function wordsTable(number: number): string {
  return `holdfast_words_${number}`;
}
