/** json-server, which the ratios of lists start too: it is one of the project's own packages. */
import { createReadStream, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { startServer } from "../harness/server.ts";
import type { Opponent } from "./opponent.ts";
import { versionOf } from "./packages.ts";

/** What many begin with. */
export const jsonServer: Opponent = {
  name: "json-server",
  title: "json-server",
  keeps: "writes the whole file again after each write, and flushes nothing",
  checks: "nothing; all is in memory",
  versions: () => versionOf("json-server"),
  missing: () => undefined,
  async fill(folder, { file }) {
    const articles: unknown[] = [];
    for await (const line of createInterface({ input: createReadStream(file) }))
      articles.push(JSON.parse(line));
    writeFileSync(`${folder}/db.json`, JSON.stringify({ articles }));
  },
  start: (folder, options) => startServer("json-server", { file: `${folder}/db.json` }, options),
  says: {
    collection: "/articles",
    item: (id) => `/articles/${id}`,
    page: "/articles?_limit=20",
    filtered: (author) => `/articles?author=${author}&_sort=publishedOn&_order=desc&_limit=20`,
  },
};
