/** Holdfast itself, filled by its own import and started by its own command. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { node, type RunOptions } from "../harness/commands.ts";
import { type Server, startProgram } from "../harness/server.ts";
import { sampleSchema } from "../ratios/sample.ts";
import type { Articles, Opponent, Says } from "./opponent.ts";

const says: Says = {
  collection: "/api/v1/articles",
  item: (id) => `/api/v1/articles/${id}`,
  page: "/api/v1/articles?limit=20",
  filtered: (author) => `/api/v1/articles?author=${author}&sort=-publishedOn&limit=20`,
  walk: "/api/v1/articles?limit=100",
  patchType: "application/merge-patch+json",
};

/** Holdfast on its embedded store. */
export const holdfast: Opponent = {
  name: "holdfast",
  title: "Holdfast",
  keeps: "every answered write is flushed to the disk (SQLite, WAL, synchronous=FULL, group commit)",
  checks: "the whole schema, the JSON itself, preconditions; keeps the change log and earlier versions",
  versions: () => `holdfast ${versionOfProject()}, node ${process.version}`,
  missing: () => undefined,
  async fill(folder, articles) {
    fillThroughImport(folder, `sqlite:${folder}/holdfast.db`, articles);
  },
  start: (folder, options) => serve(folder, `sqlite:${folder}/holdfast.db`, options),
  says,
};

/** How Holdfast is spoken to on any store. */
export const holdfastSays = says;

/** The version of the clone. */
export function versionOfProject(): string {
  return (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version;
}

/** Imports articles into a store, with the configuration that `serve` then uses. */
export function fillThroughImport(folder: string, store: string, { file }: Articles): void {
  const articles = { schema: sampleSchema, indexes: [["author", "-publishedOn"]] };
  writeFileSync(`${folder}/holdfast.config.json`, JSON.stringify({ collections: { articles } }));
  const [command = "", ...args] = [...node, "bin/holdfast.js", "import", "articles", file];
  execFileSync(command, [...args, "--store", store, "--config", `${folder}/holdfast.config.json`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Starts the service as its command does. */
export function serve(folder: string, store: string, options: RunOptions): Promise<Server> {
  const flags = ["--port", "0", "--store", store, "--config", `${folder}/holdfast.config.json`];
  return startProgram([...node, "bin/holdfast.js", "serve", ...flags], options);
}
