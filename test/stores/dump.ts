/** Dumps a whole PostgreSQL database as statements that restore it on a server of any version. */
import pg from "pg";

/** Writes the schema `public` as statements. Throws if it contains anything except tables and indexes. */
export async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await requireKnown(client);
    const tables = await column(client, `${classes} and relkind = 'r' order by relname`);
    const parts: string[] = [];
    for (const table of tables) parts.push(await dumpTable(client, table));
    return parts.join("\n");
  } finally {
    await client.end();
  }
}

/** Restores the result of `dump` in an empty database. */
export async function restore(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const classes = "select quote_ident(relname) from pg_class where relnamespace = 'public'::regnamespace";

/** Kinds of objects that `dump` cannot write. */
const unknown = [
  `${classes} and (relkind not in ('r', 'i') or reloptions is not null or relpersistence <> 'p')`,
  "select proname from pg_proc where pronamespace = 'public'::regnamespace",
  "select tgname from pg_trigger where not tgisinternal",
  "select stxname from pg_statistic_ext",
  "select typname from pg_type where typnamespace = 'public'::regnamespace and typtype not in ('c', 'b')",
  `select attname from pg_attribute join pg_class on pg_class.oid = attrelid join pg_type on pg_type.oid = atttypid
   where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0
     and (attisdropped or attidentity <> '' or attgenerated <> '' or attstorage <> typstorage)`,
];

async function requireKnown(client: pg.Client): Promise<void> {
  for (const sql of unknown) {
    const found = await column(client, sql);
    if (found.length > 0)
      throw new Error(`test/stores/dump.ts does not know how to write down ${found.join(", ")}.`);
  }
}

async function dumpTable(client: pg.Client, table: string): Promise<string> {
  const oid = `'${table}'::regclass`;
  const columns = await column(client, columnsSql(oid));
  const constraints = await column(
    client,
    `select format('constraint %I %s', conname, pg_get_constraintdef(oid)) from pg_constraint
     where conrelid = ${oid} and contype <> 'n' order by conname`,
  );
  const indexes = await column(
    client,
    `select pg_get_indexdef(indexrelid) from pg_index where indrelid = ${oid}
       and indexrelid not in (select conindid from pg_constraint where conrelid = ${oid}) order by 1`,
  );
  const create = `create table ${table} (\n  ${[...columns, ...constraints].join(",\n  ")}\n)`;
  return [create, ...(await rowsOf(client, table)), ...indexes].map((sql) => `${sql};\n`).join("");
}

function columnsSql(oid: string): string {
  return `select concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod),
      case when attcollation <> typcollation then 'collate ' || quote_ident(collname) end,
      case when attnotnull then 'not null' end, 'default ' || pg_get_expr(adbin, adrelid))
    from pg_attribute join pg_type on pg_type.oid = atttypid left join pg_collation on pg_collation.oid = attcollation
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = ${oid} and attnum > 0 order by attnum`;
}

async function rowsOf(client: pg.Client, table: string): Promise<string[]> {
  const names = await column(
    client,
    `select quote_ident(attname) from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 order by attnum`,
  );
  const values = names.map((name) => `quote_nullable(${name}::text)`).join(", ");
  return column(
    client,
    `select 'insert into ${table} values (' || concat_ws(', ', ${values}) || ')' from ${table} order by 1`,
  );
}

async function column(client: pg.Client, sql: string): Promise<string[]> {
  const { rows } = await client.query<string[]>({ text: sql, rowMode: "array" });
  return rows.map(([value = ""]) => value);
}
