/** SQL for the catalogue, the heads of collections and the format. The tables themselves are in `tables.ts`. */
import { integers } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";
import { changesTable, copyingTable, formatNumber, refersTable, resourcesTable } from "./tables.ts";

/** The columns of a resource in the order of `toStored`. */
export const resourceColumns = "key, version, updated_at, doc::text";

/** Resources after a key, for a walk through all of them. */
export function selectAfter(number: number, after: string, limit: number): Statement {
  return {
    sql: `select ${resourceColumns} from ${resourcesTable(number)} where key > $1 order by key limit $2`,
    values: [after, limit],
  };
}

/** Locks heads in the order of numbers; gives number, sequence, the state of the declaration and count. */
export function lockHeads(numbers: readonly number[]): Statement {
  return {
    sql: `select number, sequence, declared, count from holdfast_heads
      where number = any($1::integer[]) order by number for update`,
    values: [integers(numbers)],
  };
}

/** Sequence and count of a collection. */
export function selectHead(number: number): Statement {
  return { sql: "select sequence, count from holdfast_heads where number = $1", values: [number] };
}

/** Up to which sequence the change log of the collection `number` can lack changes. */
const gapsUpTo = "coalesce((select value from holdfast_meta where name = 'gaps_' || number), 0)";

/** How far the logs of all collections go. */
export const selectLogHeads: Statement = { sql: `select number, sequence, ${gapsUpTo} from holdfast_heads` };

/** How far the log of a collection goes. */
export function selectLogHead(number: number): Statement {
  return { sql: `select sequence, ${gapsUpTo} from holdfast_heads where number = $1`, values: [number] };
}

/** Notes that the change log of a collection can lack changes up to its present sequence. */
export function noteGaps(number: number): Statement {
  return {
    sql: `insert into holdfast_meta select 'gaps_' || number, sequence from holdfast_heads where number = $1
      on conflict (name) do update set value = greatest(holdfast_meta.value, excluded.value)`,
    values: [number],
  };
}

/** Of these collections, those whose logs lack their last change: history was off when it was made. */
export function selectGapsAtEnd(numbers: readonly number[]): Statement {
  const each = numbers.map(
    (number) => `select number from holdfast_heads where number = ${number} and sequence > 0
      and not exists (select 1 from ${changesTable(number)} as change where change.sequence = holdfast_heads.sequence)`,
  );
  return { sql: each.join(" union all ") };
}

/** Sets up to which sequence the change log of a collection can lack changes. */
export function setGaps(number: number, sequence: number): Statement {
  return {
    sql: `insert into holdfast_meta values ('gaps_' || $1::integer, $2)
      on conflict (name) do update set value = excluded.value`,
    values: [number, sequence],
  };
}

/** How many resources all collections have. */
export const selectCounts: Statement = { sql: "select number, count from holdfast_heads" };

/** Notes that a declaration has changed. The next write or search of another instance sees it. */
export function declareAnew(numbers: readonly number[]): Statement {
  return {
    sql: "update holdfast_heads set declared = declared + 1 where number = any($1::integer[])",
    values: [integers(numbers)],
  };
}

export const changeColumns = `sequence, version, kind, at, principal, "group"`;

/** Forgets what all resources of a collection refer to. */
export function deleteAllRefers(number: number): Statement {
  return { sql: `delete from ${refersTable(number)}` };
}

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
