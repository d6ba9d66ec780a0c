/**
 * The schema of a store: the first one on the search path of its address that exists. Names without a schema mean tables of
 * this schema, because no other schema on the path can contain a store.
 */
import { StartError } from "../../../errors.ts";
import type { Connections, Statement } from "../connection/connections.ts";

/** SQL for the table or index of the store with this name (a text in SQL); null if it does not exist. */
export function ownRelation(name: string): string {
  return `to_regclass(quote_ident(current_schema()) || '.' || ${name})`;
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
