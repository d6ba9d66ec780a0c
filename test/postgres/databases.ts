/** Empty databases for tests, used again and again: to make one takes longer than to empty it. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { atEndOfProcess } from "../runner/ends.ts";
import { type PostgresServer, startPostgres } from "./server.ts";

/** A database for one test. */
export interface Database {
  url: string;
  /** Releases it for the next test. */
  release(): void;
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

const free = new Map<string, string[]>();
const made: { server: string; name: string }[] = [];

atEndOfProcess(async () => {
  if (started === undefined)
    for (const { server, name } of made) await query(server, `drop database ${name} with (force)`);
  else await (await started).remove();
});

/**
 * An empty database on the server that this run started, or on the given one. If the test itself has started the given server, it
 * removes the server with its databases.
 */
export async function openDatabase(given?: string): Promise<Database> {
  const server = given ?? (await serverUrl());
  const waiting = free.get(server) ?? [];
  free.set(server, waiting);
  const staysAfterTest = given === undefined || given === process.env.HOLDFAST_TEST_POSTGRES;
  const url = waiting.pop() ?? (await makeDatabase(server, staysAfterTest));
  await query(url, "drop schema public cascade; create schema public");
  let isHeld = true;
  const release = () => {
    if (isHeld) waiting.push(url); // a test that ends its service twice does not free it for two others
    isHeld = false;
  };
  return { url, release };
}

async function makeDatabase(server: string, staysAfterTest: boolean): Promise<string> {
  const name = `holdfast_test_${randomUUID().replaceAll("-", "")}`;
  await query(
    server,
    `create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`,
  );
  if (staysAfterTest) made.push({ server, name });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs statements on a separate connection. */
export async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
