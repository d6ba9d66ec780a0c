/**
 * Databases for tests, used again and again: to make one takes longer than to empty it. A used database keeps the tables that every store
 * has, because a new store takes longest for those. A database in which a test changed more than the contents of a store is dropped.
 */
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import pg from "pg";
import { openStore } from "../../src/store/open.ts";
import { atEndOfFile, atEndOfProcess } from "../runner/ends.ts";
import { until } from "../until.ts";
import { type PostgresServer, startPostgres } from "./server.ts";

/** A database for one test. */
export interface Database {
  url: string;
  /** Gives it to the next test. Resolves when all connections to it have ended. Throws an Error that names them if they do not end. */
  release(): Promise<void>;
  /** Releases it while services can still end, as in `t.after`: these functions run in the order of their calls. The end of the file waits. */
  releaseLater(): void;
}

/** Which database a test needs. */
export interface DatabaseOptions {
  /** The server. If the test itself has started it, the test removes it with its databases. @default that of the run */
  server?: string | undefined;
  /** Whether it has no tables. Otherwise it is a store without collections, or it has no tables. @default false */
  isEmpty?: boolean;
}

let started: Promise<PostgresServer> | undefined;

/** The server of this run, started once at most for each process of tests: the address of a database on it. */
async function serverUrl(): Promise<string> {
  const given = process.env.HOLDFAST_TEST_STARTED_POSTGRES;
  if (given !== undefined) return given;
  started ??= startPostgres();
  const { url, unref } = await started;
  unref(); // it stays until the process of the tests ends
  return url;
}

/** A server on which databases are used again. */
interface Pool {
  /** The addresses of its databases that no test has. */
  free: string[];
  /** The shape of a store without collections. */
  shape: string;
  /** Makes a store empty that has this shape. */
  emptying: string;
}

const pools = new Map<string, Promise<Pool>>();
const made = new Map<string, string>();

atEndOfProcess(async () => {
  if (started !== undefined) return (await started).remove();
  for (const [url, server] of made) await dropDatabase(server, url);
});

/** Databases whose services can still end. */
const releases = new Set<Promise<void>>();

atEndOfFile(async () => {
  const all = [...releases];
  releases.clear();
  await Promise.all(all);
});

/** The address of a database for one test. It is released after the test, as soon as its last connection has ended. */
export async function databaseFor(t: Pick<TestContext, "after">, options?: DatabaseOptions): Promise<string> {
  const { url, releaseLater } = await openDatabase(options);
  t.after(releaseLater);
  return url;
}

/** A database that the caller releases. */
export async function openDatabase({
  server: given,
  isEmpty = false,
}: DatabaseOptions = {}): Promise<Database> {
  const server = given ?? (await serverUrl());
  const isOwn = given !== undefined && given !== process.env.HOLDFAST_TEST_POSTGRES;
  if (isOwn) return { url: await makeDatabase(server), release: async () => {}, releaseLater: () => {} };
  const pool = await poolOf(server);
  const url = (isEmpty ? undefined : pool.free.pop()) ?? (await makeDatabase(server));
  made.set(url, server);
  let released: Promise<void> | undefined;
  const release = () => {
    released ??= giveBack(pool, server, url); // a test that ends its service twice does not free it for two others
    return released;
  };
  const releaseLater = () => {
    release().catch(() => {}); // the end of the file throws it
    releases.add(release());
  };
  return { url, release, releaseLater };
}

function poolOf(server: string): Promise<Pool> {
  const pool = pools.get(server) ?? makePool(server);
  pools.set(server, pool);
  return pool;
}

async function makePool(server: string): Promise<Pool> {
  const url = await makeDatabase(server);
  made.set(url, server);
  const store = await openStore({ kind: "postgres", url });
  await store.close();
  return onConnection(url, async (client) => {
    await untilAlone(client);
    const shape = await shapeOf(client);
    if (shape === undefined) throw new Error("A new store has no shape.");
    const { rows } = await client.query(
      "select format('(%L, %s)', name, value) as row from holdfast_meta where name not like 'secret%'",
    );
    return { free: [url], shape, emptying: emptyingOf(rows.map(({ row }) => row)) };
  });
}

/** Waits for the end of all connections, and empties the database for the next test. If that is not possible, drops it. */
async function giveBack(pool: Pool, server: string, url: string): Promise<void> {
  const isEmptied = await onConnection(url, async (client) => {
    await untilAlone(client);
    if ((await shapeOf(client)) !== pool.shape) return false;
    await client.query(pool.emptying);
    return true;
  });
  if (isEmptied) pool.free.push(url);
  else {
    made.delete(url);
    await dropDatabase(server, url);
  }
}

/** Waits until nobody else uses the database of a connection: the last statements of others may still run. */
async function untilAlone(client: pg.Client): Promise<void> {
  let others: string[] = [];
  await until("nobody uses the database", async () => {
    const { rows } = await client.query(selectOthers);
    others = rows.map(({ other }) => other);
    return others.length === 0;
  }).catch((error: Error) => {
    throw new Error(`${error.message} These connections have not ended:\n${others.join("\n")}`);
  });
}

const selectOthers = `select format('%s, process %s, %s: %s', application_name, pid, state, left(query, 200)) as other
  from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/** Waits until all connections to a database have ended. Throws an Error that names them if they do not end. */
export function untilUnused(url: string): Promise<void> {
  return onConnection(url, untilAlone);
}

/** What the shape of a database says: it is the same for all stores with the same number of collections. */
async function shapeOf(client: pg.Client): Promise<string | undefined> {
  try {
    const { rows } = await client.query(selectShape);
    return rows[0].shape;
  } catch (error) {
    if ((error as { code?: string }).code === "42P01") return undefined; // it has no table of the store
    throw error;
  }
}

/** A table of one collection, as a pattern. */
const ofCollection = "^holdfast_[a-z]+_[0-9]+$";

/** Objects with a smaller number come with every database. */
const firstOwn = 16_384;

/** Everything that a test could have changed, except the rows of the store and the tables of collections. */
const selectShape = `
  with base as (
    select * from pg_class where oid >= ${firstOwn} and relkind <> 'i' and relnamespace <> 'pg_toast'::regnamespace
      and not (relkind = 'r' and relnamespace = 'public'::regnamespace and relname ~ '${ofCollection}')
  ), parts (part) as (
    select format('relation %s %s %s %s %s %s %s', oid::regclass, relkind, relowner::regrole, relacl, reloptions,
      relrowsecurity, relpersistence) from base where relkind <> 'c'
    union all select format('column %s %s %s %s %s %s %s %s', attrelid::regclass, attname, attnum, atttypid::regtype, attnotnull,
      attcollation, pg_get_expr(adbin, adrelid), attoptions)
      from base join pg_attribute on attrelid = base.oid left join pg_attrdef on adrelid = base.oid and adnum = attnum
      where attnum > 0
    union all select format('index %s %s', pg_get_indexdef(indexrelid), indisvalid) from base join pg_index on indrelid = base.oid
    union all select format('constraint %s %s', conname, pg_get_constraintdef(pg_constraint.oid))
      from base join pg_constraint on conrelid = base.oid
    union all select format('trigger %s %s', tgname, tgrelid::regclass) from pg_trigger where oid >= ${firstOwn}
    union all select format('event trigger %s', evtname) from pg_event_trigger
    union all select format('rule %s %s', rulename, ev_class::regclass) from pg_rewrite where oid >= ${firstOwn}
    union all select format('function %s', oid::regprocedure) from pg_proc where oid >= ${firstOwn}
    union all select format('type %s', oid::regtype) from pg_type
      where oid >= ${firstOwn} and typrelid = 0 and typcategory <> 'A'
    union all select format('schema %s %s %s', nspname, nspowner::regrole, nspacl) from pg_namespace where oid >= ${firstOwn}
    union all select format('extension %s', extname) from pg_extension where oid >= ${firstOwn}
    union all select format('settings %s %s', setrole, setconfig) from pg_db_role_setting
      join pg_database on pg_database.oid = setdatabase where datname = current_database()
    union all select format('database %s %s', datacl, datconnlimit) from pg_database where datname = current_database()
    union all select format('folds %s %s', count(*), sum(hashtext(version || character || folded))) from public.holdfast_folds
  )
  select md5(string_agg(part, E'\\n' order by part collate "C")) as shape from parts`;

/**
 * The statements that empty a store: it then has these rows of `holdfast_meta`, a new secret without a checksum, and no other rows but
 * the folds.
 */
function emptyingOf(meta: readonly string[]): string {
  return `do $$ declare tables text; emptied text; begin
    select string_agg(oid::regclass::text, ', ') into tables from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '${ofCollection}';
    if tables is not null then execute 'drop table ' || tables || ' cascade'; end if;
    for emptied in select tablename from pg_tables where schemaname = 'public' and tablename not in ('holdfast_folds', 'holdfast_meta') loop
      execute format('delete from public.%I', emptied);
    end loop;
    delete from public.holdfast_meta where name not like 'secret%' or name = 'secret_checksum';
    update public.holdfast_meta set value = trunc(random() * 2 ^ 48);
    insert into public.holdfast_meta values ${meta.join(", ")};
  end $$`;
}

async function makeDatabase(server: string): Promise<string> {
  const name = `holdfast_test_${randomUUID().replaceAll("-", "")}`;
  await onConnection(server, async (client) => {
    const { rows } = await client.query("show server_version_num");
    // To copy files takes a quarter of the processor time that it takes to log each page. PostgreSQL 14 knows nothing else.
    const strategy = Number(rows[0].server_version_num) < 150_000 ? "" : "strategy file_copy";
    await client.query(
      `create database ${name} template template0 ${strategy} encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`,
    );
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  await query(url.href, "drop schema public cascade; create schema public"); // no other user can use this one
  return url.href;
}

async function dropDatabase(server: string, url: string): Promise<void> {
  await query(server, `drop database ${new URL(url).pathname.slice(1)} with (force)`);
}

/** Runs statements on a separate connection. */
export function query(url: string, sql: string): Promise<pg.QueryResult> {
  return onConnection(url, (client) => client.query(sql));
}

async function onConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
