/** Checks that a database can be a store, and prepares it. */

import { foldedTable, foldingVersion } from "../../../collection/folding.ts";
import { StartError } from "../../../errors.ts";
import { requireFormat } from "../../core/format.ts";
import { insertNewRows } from "../commit/statements.ts";
import type { Connections, Statement } from "../connection/connections.ts";
import { retryConflicts } from "../connection/failures.ts";
import { smallWrite, transact } from "../connection/transaction.ts";
import { storePlans } from "../postgres-dialect.ts";
import { requireOnePlace } from "./cluster.ts";
import { findCopyingTable, formatNumber, ownRelation, storeTables } from "./tables.ts";

const maxTries = 20;

/** Locks the catalogue, so that only one instance changes declarations at a time. Returns the number of the format. */
export const lockCatalogue: Statement = {
  sql: "select value from holdfast_meta where name = 'format' for update",
};

/** The options of `prepareDatabase`. */
export interface PrepareOptions {
  /** The database can contain an incomplete copy. @default false */
  mayBeUnfinished?: boolean;
  /** The database must already be a store, so nothing is created. @default false */
  mustExist?: boolean;
}

/**
 * Creates the tables of a store if they do not exist. Throws StartError if the database cannot be a store, or not with
 * these options, and if the store has another format.
 */
export async function prepareDatabase(connections: Connections, options: PrepareOptions = {}): Promise<void> {
  const { rows } = await connections.run({ sql: "show server_encoding" });
  if (rows[0]?.[0] !== "UTF8")
    throw new StartError(
      `The database must use the encoding UTF8, not ${rows[0]?.[0]}. Create another database.`,
    );
  await requireOneSchema(connections);
  await requireOnePlace(connections);
  const { hasTables, isUnfinished } = await findTables(connections);
  if (!hasTables && options.mustExist === true) throw new StartError("The database contains no store.");
  if (!hasTables) await makeTables(connections);
  const { rows: formats } = await connections.run({
    sql: "select value from holdfast_meta where name = 'format'",
  });
  requireFormat("The store in the database", Number(formats[0]?.[0]), formatNumber);
  if (options.mustExist !== true) await addFolds(connections);
  if (isUnfinished && options.mayBeUnfinished !== true)
    throw new StartError(
      'The database holds an incomplete copy. Run the same "npx holdfast copy" again, or choose another store.',
    );
}

/** Adds what this version folds characters to, unless it is there. */
async function addFolds(connections: Connections): Promise<void> {
  const { rows } = await connections.run({
    sql: "select 1 from holdfast_folds where version = $1::text limit 1",
    values: [foldingVersion],
  });
  if (rows.length > 0) return;
  const { characters, folded } = foldedTable();
  const cells = characters.map((character, n) => [foldingVersion, character, folded[n] as string]);
  const columns = { version: "text", character: "text", folded: "text" } as const;
  await transact(connections, smallWrite, async (transaction) => {
    for (const statement of insertNewRows({ table: "holdfast_folds", columns }, cells))
      await transaction.run(statement);
  });
}

/** Whether the database contains an incomplete copy. */
export async function isUnfinished(database: Pick<Connections, "run">): Promise<boolean> {
  const { rows } = await database.run({ sql: `select ${findCopyingTable} is not null` });
  return rows[0]?.[0] === "t";
}

/**
 * Finds the tables without creating them, because a role without the permission to create tables can still use them.
 */
async function findTables(connections: Connections) {
  const { rows } = await connections.run({
    sql: `select ${ownRelation("'holdfast_meta'")}, ${findCopyingTable}`,
  });
  const [made, copying] = rows[0] ?? [];
  return { hasTables: made != null, isUnfinished: copying != null };
}

/** Creates the tables. If several instances start at the same time, one creates the tables and the others find them. */
async function makeTables(connections: Connections): Promise<void> {
  await retryConflicts(maxTries, () =>
    transact(connections, smallWrite, async (transaction) => {
      for (const sql of storeTables) await transaction.run({ sql });
      await transaction.runPlan(storePlans.secret.add());
      await transaction.run(lockCatalogue);
    }),
  );
}

/** The schema of the store, the search path, and the other schemas on the path that contain a store. */
const selectSchemas: Statement = {
  sql: `select current_schema(), current_setting('search_path'), string_agg(quote_ident(nspname), ', ' order by nspname)
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relname = 'holdfast_meta' and nspname = any(current_schemas(false)) and nspname <> current_schema()`,
};

/** Throws StartError if the address names no schema that exists, or also a schema with another store. */
export async function requireOneSchema(connections: Connections): Promise<void> {
  const { rows } = await connections.run(selectSchemas);
  const [schema, path, others] = rows[0] ?? [];
  if (schema == null)
    throw new StartError(
      `The database has no schema for the tables: the search path is ${path}. Create the schema, or allow the user to use it.`,
    );
  if (others != null)
    throw new StartError(
      `The search path is ${path}, and another store is in the schema ${others}. Name only the schema of your store, as in options=-csearch_path%3D${schema}.`,
    );
}
