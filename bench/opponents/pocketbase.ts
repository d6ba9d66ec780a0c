/** PocketBase, where `pocketbase` is on the PATH or POCKETBASE names it: as it comes, and with durable writes. */
import { execFileSync } from "node:child_process";
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { has } from "../harness/commands.ts";
import { freePort, originOf, startOnPort, stopServer } from "../harness/server.ts";
import type { Opponent } from "./opponent.ts";

const program = process.env.POCKETBASE ?? "pocketbase";
const records = "/api/collections/articles/records";

const checks = "the fields by its own rules; it cannot replace, so it gets a PATCH with all fields";

/** A backend in one program, written in Go. */
export const pocketbase: Opponent = {
  ...programWith({}),
  name: "pocketbase",
  title: "PocketBase",
  keeps:
    "as it comes: SQLite with WAL and synchronous=NORMAL, so the last writes may be lost when the power fails",
  checks: `${checks}; writes a log of all requests`,
};

/** The same program with the guarantee of the other services. It writes no log of requests, because they write none. */
export const durablePocketbase: Opponent = {
  ...programWith({ hook: durableHook(), settings: "settings.logs.maxDays = 0;" }),
  name: "pocketbase-durable",
  title: "PocketBase, durable",
  keeps: "every answered write is flushed to the disk (WAL, synchronous=FULL, which a hook sets)",
  checks: `${checks}; its log of requests is off`,
};

/** What differs from a program as it comes. */
interface Changes {
  /** A program for its hooks, which has a route that returns its value of `synchronous`. */
  hook?: string;
  /** Statements that change its settings. */
  settings?: string;
}

function programWith({
  hook,
  settings = "",
}: Changes): Omit<Opponent, "name" | "title" | "keeps" | "checks"> {
  return {
    versions: () => `PocketBase ${versionOf(program)}`,
    missing: () =>
      has(program) ? undefined : "there is no `pocketbase` on the PATH, and POCKETBASE names none",
    async fill(folder, { file }) {
      for (const part of ["migrations", "hooks"]) mkdirSync(`${folder}/${part}`);
      writeFileSync(`${folder}/migrations/1_articles.js`, migrationWith(settings));
      if (hook !== undefined) writeFileSync(`${folder}/hooks/durable.pb.js`, hook);
      execFileSync(program, ["migrate", "up", ...flagsOf(folder)], { stdio: "ignore" });
      await insertAll(`${folder}/data/data.db`, file);
    },
    async start(folder, options) {
      const port = await freePort();
      const command = [program, "serve", "--http", `127.0.0.1:${port}`, ...flagsOf(folder)];
      const server = await startOnPort(command, port, options);
      if (hook === undefined) return server;
      const answer = await fetch(`${originOf(server)}/synchronous`);
      const synchronous = await answer.text();
      if (synchronous === full) return server;
      await stopServer(server);
      throw new Error(`PocketBase has synchronous=${synchronous} instead of ${full}`);
    },
    says: {
      collection: records,
      item: (id) => `${records}/${shortId(id)}`,
      page: `${records}?perPage=20&skipTotal=1`,
      filtered: (author) =>
        `${records}?perPage=20&skipTotal=1&sort=-publishedOn&filter=${encodeURIComponent(`(author='${author}')`)}`,
      replace: "PATCH",
    },
    cannot: { notModified: "it has no validators" },
  };
}

/** The value of `synchronous` that flushes each commit. */
const full = "2";

/**
 * PocketBase writes through one connection, which it closes after three idle minutes. The job sets the option again each minute,
 * so that the connection is never idle for so long.
 */
function durableHook(): string {
  return `
    onBootstrap((event) => {
      event.next();
      event.app.nonconcurrentDB().newQuery("PRAGMA synchronous = FULL").execute();
    });
    cronAdd("durable", "* * * * *", () => {
      $app.nonconcurrentDB().newQuery("PRAGMA synchronous = FULL").execute();
    });
    routerAdd("GET", "/synchronous", (event) => {
      const row = new DynamicModel({ synchronous: -1 });
      event.app.nonconcurrentDB().newQuery("PRAGMA synchronous").one(row);
      return event.string(200, String(row.synchronous));
    });`;
}

/** A program that \`go install\` has built says no version, but contains the version of its module. */
function versionOf(command: string): string {
  const said = execFileSync(command, ["--version"], { encoding: "utf8" }).trim();
  const number = /\d+\.\d+\.\d+/.exec(said)?.[0];
  if (number !== undefined) return number;
  const path = execFileSync("sh", ["-c", `command -v ${command}`], { encoding: "utf8" }).trim();
  const found = /(?:mod|dep)\tgithub\.com\/pocketbase\/pocketbase\tv([0-9.]+)/.exec(
    readFileSync(path, "latin1"),
  );
  return found?.[1] ?? said;
}

function flagsOf(folder: string): string[] {
  const folders = { dir: "data", migrationsDir: "migrations", hooksDir: "hooks", publicDir: "public" };
  const flags = Object.entries(folders).flatMap(([name, part]) => [`--${name}`, `${folder}/${part}`]);
  return ["--dev=false", "--automigrate=false", "--hooksWatch=false", ...flags];
}

/** Its table is a plain one; to post all would take minutes. */
async function insertAll(path: string, file: string): Promise<void> {
  const db = new DatabaseSync(path);
  const insert = db.prepare(
    "insert into articles (id, title, author, publishedOn, rating, tags, summary) values (?, ?, ?, ?, ?, ?, ?)",
  );
  db.exec("begin");
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { id, title, author, publishedOn, rating, tags, summary } = JSON.parse(line);
    insert.run(shortId(id), title, author, publishedOn, rating, JSON.stringify(tags), summary);
  }
  db.exec("commit");
  db.close();
}

/**
 * The id that PocketBase has for an article. Its ids have 15 letters and digits. With a pattern of another form, each create
 * would look through all ids for one that differs only in case.
 */
function shortId(id: string): string {
  return id.replaceAll("-", "").slice(-15);
}

const text = (name: string, max: number, rest = {}) => ({ type: "text", name, max, required: true, ...rest });

const articles = {
  type: "base",
  name: "articles",
  listRule: "",
  viewRule: "",
  createRule: "",
  updateRule: "",
  deleteRule: "",
  fields: [
    text("title", 200),
    text("author", 100, { pattern: "^author-[0-9]+$" }),
    text("publishedOn", 10),
    { type: "number", name: "rating", min: 0, max: 5 },
    { type: "json", name: "tags" },
    text("summary", 20_000),
  ],
  indexes: ["CREATE INDEX by_author ON articles (author, publishedOn DESC, id)"],
};

/** Makes the collection, and a first superuser, so that the program asks for none. */
function migrationWith(settings: string): string {
  return `migrate((app) => {
    app.save(new Collection(${JSON.stringify(articles)}));
    const superuser = new Record(app.findCollectionByNameOrId("_superusers"));
    superuser.set("email", "bench@example.org");
    superuser.set("password", $security.randomString(30));
    app.save(superuser);
    const settings = app.settings();
    ${settings}
    app.save(settings);
  });\n`;
}
