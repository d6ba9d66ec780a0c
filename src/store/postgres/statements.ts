/**
 * Every shape of statement that the store sends beside lists (`page.ts`) and copies (`copy/statements.ts`), in plain SQL:
 * nothing here asks the database for more than rows, locks on them and transactions of the usual isolation. What makes
 * the tables is in `tables.ts` and `indexes.ts`.
 */
import type { Unique } from "../../collection/unique.ts";
import type { ReadLimit } from "../commits/lookups.ts";
import type { ApiKey, KeyEnd } from "../keys.ts";
import type { Traces } from "../receipts.ts";
import { differenceMark, maxChain } from "../superseded.ts";
import { bigints, integers, jsons, texts } from "./connection/arrays.ts";
import type { Statement } from "./connection/connections.ts";
import { uniqueIndexSql, uniqueSql } from "./list/expressions.ts";
import {
  changesTable,
  copyingTable,
  formatNumber,
  refersTable,
  resourcesTable,
  wordsTable,
} from "./tables/tables.ts";

/** Asks whether the database answers. */
export const probe: Statement = { sql: "select 1" };

/** How many standbys follow the database: not backups, nor those who subscribe to tables. The states show for few users. */
export const countStandbys: Statement = {
  sql: `select count(*) from pg_stat_replication where coalesce(state, 'streaming') = 'streaming' and pid not in
    (select active_pid from pg_replication_slots where slot_type = 'logical' and active_pid is not null)`,
};

/** The columns of a resource in the order of `toStored`. */
const resource = "key, version, updated_at, doc::text";

// Resources

/** Resources by their keys. */
export function selectResources(number: number, keys: readonly string[]): Statement {
  return {
    sql: `select ${resource} from ${resourcesTable(number)} where key = any($1::text[])`,
    values: [texts(keys)],
  };
}

/** Resources by their keys, locked in the order of keys, so that instances do not wait for each other in a circle. */
export function lockResources(number: number, keys: readonly string[]): Statement {
  return {
    sql: `select ${resource} from ${resourcesTable(number)} where key = any($1::text[]) order by key for update`,
    values: [texts(keys)],
  };
}

/** Which of the keys are there. */
export function selectKeys(number: number, keys: readonly string[]): Statement {
  return {
    sql: `select key from ${resourcesTable(number)} where key = any($1::text[])`,
    values: [texts(keys)],
  };
}

/** Resources after a key, for a walk through all of them. */
export function selectAfter(number: number, after: string, limit: number): Statement {
  return {
    sql: `select ${resource} from ${resourcesTable(number)} where key > $1 order by key limit $2`,
    values: [after, limit],
  };
}

/** As `selectAfter`, with no more text than so many bytes; but at least one. */
export function selectChunk(
  number: number,
  after: string,
  { resources, size }: { resources: number; size: number },
): Statement {
  return {
    sql: `select ${resource} from (select *, sum(size) over (order by key rows unbounded preceding) as running
        from (select * from ${resourcesTable(number)} where key > $1 order by key limit $2) as chunk) as measured
      where running <= $3 or running = size order by key`,
    values: [after, resources, size],
  };
}

/** As `selectAfter`, locked. */
export function lockAfter(number: number, after: string, limit: number): Statement {
  const { sql, values = [] } = selectAfter(number, after, limit);
  return { sql: `${sql} for update`, values };
}

/** A resource as a set statement takes it. */
export interface ResourceRow {
  key: string;
  version: number;
  at: number;
  text: string;
}

const arrays = "unnest($1::text[], $2::bigint[], $3::bigint[], $4::integer[], $5::json[])";

function columnsOf(rows: readonly ResourceRow[]): readonly unknown[] {
  return [
    texts(rows.map(({ key }) => key)),
    bigints(rows.map(({ version }) => version)),
    bigints(rows.map(({ at }) => at)),
    integers(rows.map(({ text }) => Buffer.byteLength(text))),
    jsons(rows.map(({ text }) => text)),
  ];
}

/** Creates resources, in the order of their keys. Fewer than asked for: another instance was faster. */
export function insertResources(number: number, rows: readonly ResourceRow[]): Statement {
  return {
    sql: `insert into ${resourcesTable(number)} (key, version, updated_at, size, doc)
      select * from ${arrays} on conflict do nothing`,
    values: columnsOf(rows),
  };
}

/** Changes resources that are locked. */
export function updateResources(number: number, rows: readonly ResourceRow[]): Statement {
  return {
    sql: `update ${resourcesTable(number)} as resource
      set version = next.version, updated_at = next.updated_at, size = next.size, doc = next.doc
      from ${arrays} as next (key, version, updated_at, size, doc) where resource.key = next.key`,
    values: columnsOf(rows),
  };
}

/** Deletes resources that are locked. */
export function deleteResources(number: number, keys: readonly string[]): Statement {
  return { sql: `delete from ${resourcesTable(number)} where key = any($1::text[])`, values: [texts(keys)] };
}

// Heads

/** Locks heads in the order of numbers; gives number, sequence, the state of the declaration and count. */
export function lockHeads(numbers: readonly number[]): Statement {
  return {
    sql: `select number, sequence, declared, count from holdfast_heads
      where number = any($1::integer[]) order by number for update`,
    values: [integers(numbers)],
  };
}

/** Raises a head, which locks it to the end of the transaction; gives the new sequence and the state of the declaration. */
export function raiseHead(number: number, by: { sequence: number; count: number; words: number }): Statement {
  return {
    sql: `update holdfast_heads set sequence = sequence + $2, count = count + $3, words = words + $4
      where number = $1 returning sequence, declared`,
    values: [number, by.sequence, by.count, by.words],
  };
}

/** Sequence and count of a collection. */
export function selectHead(number: number): Statement {
  return { sql: "select sequence, count from holdfast_heads where number = $1", values: [number] };
}

/** The sequences of all collections. */
export const selectHeads: Statement = { sql: "select number, sequence from holdfast_heads order by number" };

/** How many resources all collections have. */
export const selectCounts: Statement = { sql: "select number, count from holdfast_heads" };

/** Says that a declaration has changed, to whoever writes or searches next. */
export function declareAnew(numbers: readonly number[]): Statement {
  return {
    sql: "update holdfast_heads set declared = declared + 1 where number = any($1::integer[])",
    values: [integers(numbers)],
  };
}

// The change log

const logged = `sequence, version, kind, at, principal, "group"`;

/** A row of the change log as a set statement takes it. */
export interface ChangeRow {
  sequence: number;
  id: string;
  version: number;
  kind: string;
  at: number;
  principal: string | null;
  group: number | null;
  /** What is kept of the text that the change superseded (`../superseded.ts`). */
  kept: string | null;
}

/** Adds to the change log. */
export function insertChanges(number: number, rows: readonly ChangeRow[]): Statement {
  return {
    sql: `insert into ${changesTable(number)} (${logged}, id, previous) select * from unnest($1::bigint[],
      $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[])`,
    values: [
      bigints(rows.map(({ sequence }) => sequence)),
      bigints(rows.map(({ version }) => version)),
      texts(rows.map(({ kind }) => kind)),
      bigints(rows.map(({ at }) => at)),
      texts(rows.map(({ principal }) => principal)),
      bigints(rows.map(({ group }) => group)),
      texts(rows.map(({ id }) => id)),
      texts(rows.map(({ kept }) => kept)),
    ],
  };
}

/** The change log after a sequence. */
export function selectChanges(number: number, sequence: number, limit: number): Statement {
  return {
    sql: `select ${logged}, id, previous from ${changesTable(number)}
      where sequence > $1 order by sequence limit $2`,
    values: [sequence, limit],
  };
}

/** The versions that the last changes of resources made. */
export function selectLastVersions(number: number, ids: readonly string[]): Statement {
  return {
    sql: `select id, max(version) from ${changesTable(number)} where id = any($1::text[]) group by id`,
    values: [texts(ids)],
  };
}

/** The changes of one resource below a version, newest first. */
export function selectChangesOf(
  number: number,
  id: string,
  page: { before: number; limit: number },
): Statement {
  return {
    sql: `select ${logged} from ${changesTable(number)}
      where id = $1 and version < $2 order by version desc limit $3`,
    values: [id, page.before, page.limit],
  };
}

/** The change of a resource that made a version or the last one below it. */
export function selectChangeUpTo(number: number, id: string, version: number): Statement {
  return {
    sql: `select version, kind, at from ${changesTable(number)}
      where id = $1 and version <= $2 order by version desc limit 1`,
    values: [id, version],
  };
}

/** The oldest change of a resource. */
export function selectOldestChange(number: number, id: string): Statement {
  return {
    sql: `select version, kind, at from ${changesTable(number)} where id = $1 order by version limit 1`,
    values: [id],
  };
}

/** What changes of a resource keep of the texts that they superseded, from a version up to the first whole text. */
export function selectChain(number: number, id: string, version: number): Statement {
  const changes = changesTable(number);
  const last = version + maxChain - 1;
  return {
    sql: `select version, previous from ${changes} where id = $1 and version between $2 and coalesce(
        (select min(version) from ${changes} where id = $1 and version between $2 and $3
          and left(previous, 1) is distinct from '${differenceMark}'), $3)
      order by version`,
    values: [id, version, last],
  };
}

/** Sequence, time and size of changes after a sequence. */
export function selectSizes(number: number, sequence: number, limit: number): Statement {
  return {
    sql: `select sequence, at, coalesce(octet_length(previous), 0) from ${changesTable(number)}
      where sequence > $1 order by sequence limit $2`,
    values: [sequence, limit],
  };
}

/** Removes the oldest changes of a collection. */
export function deleteChangesUpTo(number: number, sequence: number): Statement {
  return { sql: `delete from ${changesTable(number)} where sequence <= $1`, values: [sequence] };
}

/** Removes all changes of a resource. */
export function deleteChangesOf(number: number, id: string): Statement {
  return { sql: `delete from ${changesTable(number)} where id = $1`, values: [id] };
}

// Receipts

/** Receipts by their keys. */
export function selectReceipts(keys: readonly string[]): Statement {
  return {
    sql: "select key, fingerprint, answer, brief, expires_at from holdfast_receipts where key = any($1::text[])",
    values: [texts(keys)],
  };
}

/** A receipt as a set statement takes it. */
export interface ReceiptRow {
  key: string;
  fingerprint: string;
  answer: string;
  brief: string;
  expiresAt: number;
  at: number;
}

/** Keeps receipts. Fewer than asked for: another instance was faster. Those that have expired must be removed before. */
export function keepReceipts(rows: readonly ReceiptRow[]): Statement {
  return {
    sql: `insert into holdfast_receipts (key, fingerprint, answer, brief, expires_at)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
      on conflict do nothing`,
    values: [
      texts(rows.map(({ key }) => key)),
      texts(rows.map(({ fingerprint }) => fingerprint)),
      texts(rows.map(({ answer }) => answer)),
      texts(rows.map(({ brief }) => brief)),
      bigints(rows.map(({ expiresAt }) => expiresAt)),
    ],
  };
}

/** Removes those of some receipts that have expired; gives the length of each answer. */
export function deleteExpired(keys: readonly string[], now: number): Statement {
  return {
    sql: `delete from holdfast_receipts where key = any($1::text[]) and expires_at <= $2
      returning octet_length(answer)`,
    values: [texts(keys), now],
  };
}

/** How many receipts there are. */
export const selectReceiptCount: Statement = {
  sql: "select value from holdfast_meta where name = 'receipts'",
};

/** The totals of receipts. Whatever changes receipts raises the totals last, in this order: so nobody waits in a circle. */
export type ReceiptTotal = "receipts" | "answers";

/** Raises a total of receipts, which locks it to the end of the transaction; gives the new total. */
export function raiseReceiptTotal(total: ReceiptTotal, by: number): Statement {
  return {
    sql: "update holdfast_meta set value = value + $2 where name = $1 returning value",
    values: [total, by],
  };
}

/** Nobody changes receipts until the end of the transaction. */
export const lockReceipts: Statement = { sql: "lock table holdfast_receipts in share row exclusive mode" };

/** Counts all receipts, unless they are counted already; `isAgain`: in any case. */
export function countReceipts({ isAgain = false } = {}): Statement {
  return {
    sql: `insert into holdfast_meta select 'receipts', count(*) from holdfast_receipts
      union all select 'answers', coalesce(sum(octet_length(answer)), 0)::bigint from holdfast_receipts
      on conflict ${isAgain ? "(name) do update set value = excluded.value" : "do nothing"}`,
  };
}

/** Whether receipts are counted. */
export const selectReceiptTotals: Statement = {
  sql: "select name from holdfast_meta where name in ('receipts', 'answers')",
};

/** The receipts with an answer that expire first, with the length of each. Those that others are changing are passed over. */
export function lockOldestAnswers(limit: number): Statement {
  return {
    sql: `select key, octet_length(answer) from holdfast_receipts where answer <> ''
      order by expires_at limit $1 for update skip locked`,
    values: [limit],
  };
}

/** Removes the answers of receipts. */
export function dropAnswers(keys: readonly string[]): Statement {
  return {
    sql: "update holdfast_receipts set answer = '' where key = any($1::text[])",
    values: [texts(keys)],
  };
}

/** Some of the receipts that have expired, the oldest first, with the length of each answer. Others that change them are not waited for. */
export function lockExpiredReceipts(now: number, limit: number): Statement {
  return {
    sql: `select key, octet_length(answer) from holdfast_receipts where expires_at <= $1
      order by expires_at limit $2 for update skip locked`,
    values: [now, limit],
  };
}

/** Removes receipts. */
export function deleteReceipts(keys: readonly string[]): Statement {
  return { sql: "delete from holdfast_receipts where key = any($1::text[])", values: [texts(keys)] };
}

const holds = (texts: string, column: string) =>
  `exists (select 1 from unnest(${texts}::text[]) as part (held) where strpos(${column}, held) > 0)`;

/** Removes receipts of requests to a resource that is erased; gives the length of each answer. */
export function deleteReceiptsOf({ inKey }: Traces): Statement {
  return {
    sql: `delete from holdfast_receipts where ${holds("$1", "key")} returning octet_length(answer)`,
    values: [texts(inKey)],
  };
}

/** Takes all that came of the requests out of receipts that tell of an erased resource; gives how long each answer was. */
export function blankReceiptsOf({ inBrief, inAnswer }: Traces): Statement {
  return {
    sql: `with found as (select key, octet_length(answer) as length from holdfast_receipts
        where strpos(brief || '"', $1) > 0 or ${holds("$2", "answer")} for update)
      update holdfast_receipts as known set fingerprint = '', answer = '', brief = ''
      from found where known.key = found.key returning found.length`,
    values: [inBrief, texts(inAnswer)],
  };
}

// Numbers

/** Takes integer ids out of use; gives the last of them. Nothing where there are no more. */
export function reserveIds(number: number, n: number): Statement {
  return {
    sql: `update holdfast_ids set last_id = last_id + $2
      where number = $1 and last_id <= ${Number.MAX_SAFE_INTEGER} - $2 returning last_id`,
    values: [number, n],
  };
}

/** Notes an id that a resource has: those given from now on are above it. */
export function noteId(number: number, id: number): Statement {
  return {
    sql: "update holdfast_ids set last_id = $2 where number = $1 and last_id < $2",
    values: [number, id],
  };
}

/** Takes numbers of groups out of use; gives the last of them. */
export function reserveGroups(n: number): Statement {
  return {
    sql: "update holdfast_meta set value = value + $1 where name = 'groups' returning value",
    values: [n],
  };
}

// What is declared unique

/** Which resources have one of the values in a unique attribute. */
export function selectHolders(number: number, unique: Unique, values: readonly string[]): Statement {
  return {
    sql: `select key, ${uniqueSql(unique)} from ${resourcesTable(number)}
      where ${uniqueIndexSql(unique)} = any($1::text[])`,
    values: [texts(values)],
  };
}

// References

/** What a resource refers to, as a set statement takes it. */
export interface RefersRow {
  attribute: string;
  target: string;
  key: string;
}

/** Notes what resources refer to. */
export function insertRefers(number: number, rows: readonly RefersRow[]): Statement {
  return {
    sql: `insert into ${refersTable(number)} (attribute, target, key)
      select * from unnest($1::text[], $2::text[], $3::text[]) on conflict do nothing`,
    values: [
      texts(rows.map(({ attribute }) => attribute)),
      texts(rows.map(({ target }) => target)),
      texts(rows.map(({ key }) => key)),
    ],
  };
}

/** Forgets what resources refer to. */
export function deleteRefers(number: number, keys: readonly string[]): Statement {
  return { sql: `delete from ${refersTable(number)} where key = any($1::text[])`, values: [texts(keys)] };
}

/** Forgets what all resources of a collection refer to. */
export function deleteAllRefers(number: number): Statement {
  return { sql: `delete from ${refersTable(number)}` };
}

/** Resources that refer to one of several, each once, without those that are known. */
export function selectReferring(
  number: number,
  {
    attribute,
    targets,
    known,
    limit,
  }: { attribute: string; targets: readonly string[]; known: readonly string[]; limit: ReadLimit },
): Statement {
  return {
    sql: `select ${resource} from (select *, sum(size) over (order by key rows unbounded preceding) as running
        from (select resource.* from (select distinct key from ${refersTable(number)}
            where attribute = $1 and target = any($2::text[]) and key <> all($3::text[])) as refers
          join ${resourcesTable(number)} as resource using (key) order by key limit $4) as referring) as measured
      where running - size <= $5 order by key`,
    values: [attribute, texts(targets), texts(known), limit.resources, limit.text],
  };
}

/** The ids that resources refer to by an attribute, from one on, each once. */
export function selectTargets(
  number: number,
  { attribute, from, limit }: { attribute: string; from: string; limit: number },
): Statement {
  return {
    sql: `select distinct target from ${refersTable(number)}
      where attribute = $1 and target >= $2 order by target limit $3`,
    values: [attribute, from, limit],
  };
}

// Words

/** How often a word is in a resource, as a set statement takes it; under the empty word, how many words there are. */
export interface WordRow {
  word: string;
  key: string;
  times: number;
}

/** Notes the words of resources. */
export function insertWords(number: number, rows: readonly WordRow[]): Statement {
  return {
    sql: `insert into ${wordsTable(number)} (word, key, times)
      select * from unnest($1::text[], $2::text[], $3::integer[])`,
    values: [
      texts(rows.map(({ word }) => word)),
      texts(rows.map(({ key }) => key)),
      integers(rows.map(({ times }) => times)),
    ],
  };
}

/** Forgets the words of resources; gives word and times of each. */
export function deleteWords(number: number, keys: readonly string[]): Statement {
  return {
    sql: `delete from ${wordsTable(number)} where key = any($1::text[]) returning word, times`,
    values: [texts(keys)],
  };
}

/** Up to which key the words of collections are gathered, and by which words: of those that are not done. */
export function selectUngathered(version: string): Statement {
  return {
    sql: `select number, gathered_to, words_version from holdfast_heads
      where gathered_to is not null or words_version <> $1 order by number`,
    values: [version],
  };
}

/** Begins to gather the words of a collection anew. */
export function gatherAnew(number: number, version: string): Statement {
  return {
    sql: "update holdfast_heads set words = 0, gathered_to = '', words_version = $2 where number = $1",
    values: [number, version],
  };
}

/** Ends that a collection has words. */
export function gatherNoMore(number: number): Statement {
  return {
    sql: "update holdfast_heads set words = 0, gathered_to = null, words_version = null where number = $1",
    values: [number],
  };
}

/** Notes that words were gathered from one key to another, or to the end (null), unless another instance did. */
export function noteGathered(
  number: number,
  gathered: { from: string; to: string | null; words: number },
): Statement {
  return {
    sql: `update holdfast_heads set words = words + $4, gathered_to = $3
      where number = $1 and gathered_to = $2`,
    values: [number, gathered.from, gathered.to, gathered.words],
  };
}

/** Forgets all words of a collection. */
export function deleteAllWords(number: number): Statement {
  return { sql: `delete from ${wordsTable(number)}` };
}

// The catalogue

/** Locks the catalogue: one instance at a time declares. Gives the number of the format. */
export const lockCatalogue: Statement = {
  sql: "select value from holdfast_meta where name = 'format' for update",
};

/** The number of the format. */
export const selectFormat: Statement = { sql: "select value from holdfast_meta where name = 'format'" };

/** The tables of changes that are still of format 1. */
export const selectFirstFormat: Statement = {
  sql: `select relname from holdfast_collections
    join pg_class on pg_class.oid = to_regclass('holdfast_changes_' || number)
    join pg_attribute on attrelid = pg_class.oid and attname = 'superseded' order by number`,
};

/** Makes a table of changes be of format 2. */
export function renameSuperseded(table: string): Statement {
  return { sql: `alter table ${table} rename column superseded to previous` };
}

/** Says that all tables are of the format of this program. */
export const raiseFormatNumber: Statement = {
  sql: `update holdfast_meta set value = ${formatNumber} where name = 'format' and value < ${formatNumber}`,
};

/** Whether a copy into the database is under way, or was broken off. */
export const selectIsCopied: Statement = { sql: `select to_regclass('${copyingTable}') is not null` };

/** Whether there is a collection of this name. */
export function selectCollection(name: string): Statement {
  return { sql: "select 1 from holdfast_collections where name = $1", values: [name] };
}

/** What is written down of a collection. */
export interface DeclarationRow {
  number: number;
  name: string;
  idKind: string;
  schema: string | null;
  indexes: string;
  search: string;
  uniques: string;
  refers: string;
  timestamps: boolean;
}

/** Writes a declaration down, in the place of the one before. */
export function putDeclaration(row: DeclarationRow): Statement {
  return {
    sql: `insert into holdfast_collections 
        (number, name, id_kind, schema, indexes, search, uniques, refers, timestamps)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (number) do update set id_kind = excluded.id_kind, schema = excluded.schema,
        indexes = excluded.indexes, search = excluded.search, uniques = excluded.uniques, refers = excluded.refers,
        timestamps = excluded.timestamps`,
    values: [
      row.number,
      row.name,
      row.idKind,
      row.schema,
      row.indexes,
      row.search,
      row.uniques,
      row.refers,
      row.timestamps,
    ],
  };
}

/** The head of a new collection, with the state of its declaration. */
export function insertHead(number: number, declared: number): Statement {
  return { sql: "insert into holdfast_heads (number, declared) values ($1, $2)", values: [number, declared] };
}

/** The integer ids of a new collection. */
export function insertIds(number: number): Statement {
  return { sql: "insert into holdfast_ids (number) values ($1)", values: [number] };
}

// API keys

const keyColumns =
  "prefix, hash, name, subject, roles, scopes, created_at, expires_at, revoked_at, last_used_at";

/** The key of a prefix. */
export function selectKey(prefix: string): Statement {
  return { sql: `select ${keyColumns} from holdfast_keys where prefix = $1`, values: [prefix] };
}

/** All keys, the oldest first. */
export const selectAllKeys: Statement = {
  sql: `select ${keyColumns} from holdfast_keys order by created_at, prefix`,
};

/** Adds a key, unless there is one of its prefix. */
export function insertKey(key: ApiKey): Statement {
  return {
    sql: `insert into holdfast_keys (${keyColumns})
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    values: [
      key.prefix,
      key.hash,
      key.name,
      key.subject,
      JSON.stringify(key.roles),
      key.scopes === undefined ? null : JSON.stringify(key.scopes),
      key.createdAt,
      key.expiresAt ?? null,
      key.revokedAt ?? null,
      key.lastUsedAt ?? null,
    ],
  };
}

/** Brings an end of a key forward, where it was not nearer before. */
export function bringKeyForward(prefix: string, end: KeyEnd): Statement {
  const [column, at] = "revokedAt" in end ? ["revoked_at", end.revokedAt] : ["expires_at", end.expiresAt];
  return {
    sql: `update holdfast_keys set ${column} = $2 where prefix = $1 and (${column} is null or ${column} > $2)`,
    values: [prefix, at],
  };
}

/** Notes the use of a key, but for one that was copied while the copy is not finished. */
export function noteKeyUse(prefix: string, at: number): Statement {
  return {
    sql: `update holdfast_keys set last_used_at = $2
      where prefix = $1 and (last_used_at is null or last_used_at < $2) and to_regclass('${copyingTable}') is null`,
    values: [prefix, at],
  };
}
