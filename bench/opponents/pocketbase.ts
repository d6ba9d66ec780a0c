/** PocketBase, where `pocketbase` is on the PATH or POCKETBASE names it. */
import { execFileSync } from "node:child_process";
import { createReadStream, mkdirSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { has } from "../harness/commands.ts";
import { freePort, startOnPort } from "../harness/server.ts";
import type { Opponent } from "./opponent.ts";

const program = process.env.POCKETBASE ?? "pocketbase";
const records = "/api/collections/articles/records";

/** A backend in one program, written in Go. */
export const pocketbase: Opponent = {
  name: "pocketbase",
  title: "PocketBase",
  keeps:
    "as it comes: SQLite with WAL and synchronous=NORMAL, so the last writes may be lost when the power fails",
  checks:
    "the fields by its own rules; keeps a log of requests; it cannot replace, so it gets a PATCH with all fields",
  versions: () => execFileSync(program, ["--version"], { encoding: "utf8" }).trim(),
  missing: () =>
    has(program) ? undefined : "there is no `pocketbase` on the PATH, and POCKETBASE names none",
  async fill(folder, { file }) {
    mkdirSync(`${folder}/migrations`);
    writeFileSync(`${folder}/migrations/1_articles.js`, migration);
    execFileSync(program, ["migrate", "up", ...flagsOf(folder)], { stdio: "ignore" });
    await insertAll(`${folder}/data/data.db`, file);
  },
  async start(folder, options) {
    const port = await freePort();
    return startOnPort([program, "serve", "--http", `127.0.0.1:${port}`, ...flagsOf(folder)], port, options);
  },
  says: {
    collection: records,
    item: (id) => `${records}/${id}`,
    page: `${records}?perPage=20&skipTotal=1`,
    filtered: (author) =>
      `${records}?perPage=20&skipTotal=1&sort=-publishedOn&filter=${encodeURIComponent(`(author='${author}')`)}`,
    replace: "PATCH",
  },
  cannot: { notModified: "it has no validators" },
};

function flagsOf(folder: string): string[] {
  return ["--dev=false", "--dir", `${folder}/data`, "--migrationsDir", `${folder}/migrations`];
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
    insert.run(id, title, author, publishedOn, rating, JSON.stringify(tags), summary);
  }
  db.exec("commit");
  db.close();
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
    text("id", 36, {
      min: 1,
      primaryKey: true,
      system: true,
      pattern: "^[a-z0-9-]+$",
      autogeneratePattern: "[a-z0-9]{15}",
    }),
    text("title", 200),
    text("author", 100, { pattern: "^author-[0-9]+$" }),
    text("publishedOn", 10),
    { type: "number", name: "rating", min: 0, max: 5 },
    { type: "json", name: "tags" },
    text("summary", 20_000),
  ],
  indexes: ["CREATE INDEX by_author ON articles (author, publishedOn DESC, id)"],
};

const migration = `migrate((app) => app.save(new Collection(${JSON.stringify(articles)})));\n`;
