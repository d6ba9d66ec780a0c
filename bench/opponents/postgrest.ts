/** PostgREST, where `postgrest` is on the PATH or POSTGREST names it, on the PostgreSQL that the bench starts. */
import { execFileSync } from "node:child_process";
import { has } from "../harness/commands.ts";
import {
  bytesOf,
  databaseFor,
  insertArticles,
  placePostgres,
  postgresPid,
  postgresVersion,
} from "../harness/postgres.ts";
import { freePort, startOnPort } from "../harness/server.ts";
import type { Opponent } from "./opponent.ts";

const program = process.env.POSTGREST ?? "postgrest";

/** The interface of a PostgreSQL database, written in Haskell. */
export const postgrest: Opponent = {
  name: "postgrest",
  title: "PostgREST",
  keeps: "every answered write is flushed to the disk (PostgreSQL, fsync and synchronous_commit on)",
  checks: "the types of the columns; PostgreSQL runs on the same processors and is counted with it",
  versions: () =>
    `${execFileSync(program, ["--version"], { encoding: "utf8" }).trim()}, PostgreSQL ${postgresVersion()}`,
  missing: () => (has(program) ? undefined : "there is no `postgrest` on the PATH, and POSTGREST names none"),
  fill: insertArticles,
  async start(folder, options) {
    const port = await freePort();
    placePostgres(options.cpu);
    const server = await startOnPort([program], port, {
      ...options,
      env: {
        PGRST_DB_URI: await databaseFor(folder),
        PGRST_DB_ANON_ROLE: "holdfast",
        PGRST_SERVER_HOST: "127.0.0.1",
        PGRST_SERVER_PORT: String(port),
        PGRST_LOG_LEVEL: "crit",
      },
    });
    return { ...server, beside: [postgresPid()] };
  },
  bytes: bytesOf,
  says: {
    collection: "/articles",
    item: (id) => `/articles?id=eq.${id}`,
    page: "/articles?order=id&limit=20",
    filtered: (author) => `/articles?author=eq.${author}&order=publishedOn.desc&limit=20`,
    headers: { Prefer: "return=representation" },
  },
  cannot: { notModified: "it has no validators" },
};
