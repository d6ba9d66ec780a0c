/** A PostgreSQL of the bench's own, durable, on the processor of the servers; started when it is first needed. */
import { spawnSync } from "node:child_process";
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../test/postgres/server.ts";
import { has } from "./commands.ts";
import { familyOf } from "./usage.ts";

const durable = ["fsync=on", "full_page_writes=on", "synchronous_commit=on", "shared_buffers=256MB"];

let started: Promise<PostgresServer> | undefined;
let version = "";
const databases = new Map<string, string>();

/** The address of a database that belongs to a folder. Creates it if it does not exist. */
export async function databaseFor(folder: string): Promise<string> {
  const made = databases.get(folder);
  if (made !== undefined) return made;
  started ??= start();
  const { url } = await started;
  const name = `bench_${databases.size}`;
  await query(url, `create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  databases.set(folder, address.href);
  return address.href;
}

/** Makes a table of articles in the database of a folder, and fills it from a file. */
export async function insertArticles(folder: string, { file }: { file: string }): Promise<void> {
  const url = await databaseFor(folder);
  await query(url, articlesTable);
  const insert = "insert into articles select * from json_populate_recordset(null::articles, $1)";
  const lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    lines.push(line);
    if (lines.length === 1_000) await query(url, insert, [`[${lines.splice(0).join()}]`]);
  }
  await query(url, insert, [`[${lines.join()}]`]);
}

const articlesTable = `
  create table articles (
    id text primary key default gen_random_uuid()::text, title text not null, author text not null,
    "publishedOn" date not null, rating double precision not null, tags text[] not null, summary text not null
  );
  create index on articles (author, "publishedOn" desc)`;

/** The bytes of the database of a folder. */
export async function bytesOf(folder: string): Promise<number> {
  const { rows } = await query(
    await databaseFor(folder),
    "select pg_database_size(current_database()) as bytes",
  );
  return Number((rows as { bytes: string }[])[0]?.bytes);
}

/** The version of the server that runs. */
export function postgresVersion(): string {
  return version === "" ? "(not started)" : version;
}

/** The process that all others of the server come from. */
export function postgresPid(): number {
  const found = readdirSync("/proc").find((pid) => {
    const [, name, , parent] = /^\d+ \((.*)\) (\S) (\d+)/.exec(statOf(pid)) ?? [];
    return name === "postgres" && Number(parent) === process.pid;
  });
  return Number(found ?? 0);
}

/** Ends the server and removes its data. */
export async function removePostgres(): Promise<void> {
  if (started !== undefined) await (await started).remove();
  started = undefined;
  databases.clear();
}

async function start(): Promise<PostgresServer> {
  const server = await startPostgres(durable);
  const { rows } = await query(server.url, "show server_version");
  version = (rows as { server_version: string }[])[0]?.server_version ?? "";
  placePostgres(0);
  return server;
}

/** Keeps all processes of the server on one processor, or lets them use all. Later processes inherit it. */
export function placePostgres(cpu: number | undefined): void {
  if (!has("taskset")) return;
  const list = cpu === undefined ? `0-${availableParallelism() - 1}` : String(cpu);
  for (const pid of familyOf(postgresPid()))
    spawnSync("taskset", ["-acp", list, String(pid)], { stdio: "ignore" }); // some end at any time
}

async function query(url: string, sql: string, values?: unknown[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql, values);
  } finally {
    await client.end();
  }
}

function statOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
  } catch {
    return ""; // it has ended
  }
}
