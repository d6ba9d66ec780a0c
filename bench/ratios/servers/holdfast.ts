/** The service itself. `declared` gives the collection `articles` a schema, and indexes; otherwise anything goes. */
import { defineCollection } from "../../../src/collection/declaration.ts";
import { loadConfig } from "../../../src/config.ts";
import { startServer } from "../../../src/server.ts";
import { isPostgresUrl } from "../../../src/store/address.ts";
import type { History } from "../../../src/store/history.ts";
import { sampleSchema } from "../sample.ts";

const options = JSON.parse(process.argv[2] as string) as {
  /** The file, or the address of a database. */
  store: string;
  declared?: boolean;
  indexes?: string[][];
  groupCommit?: boolean;
  queryMs?: number;
  history?: History;
  /** Event streams of one client. */
  streams?: number;
  /** A configuration file. */
  config?: string;
};
const config = await loadConfig({
  flags: {
    store: isPostgresUrl(options.store) ? options.store : `sqlite:${options.store}`,
    port: "0",
    ...(options.config === undefined ? {} : { config: options.config }),
  },
  env: {},
  cwd: "/",
});
const { limits } = config.http;
const http = {
  ...config.http,
  limits: { ...limits, streamsPerCaller: options.streams ?? limits.streamsPerCaller },
};
const articles = await defineCollection("articles", {
  schema: sampleSchema,
  indexes: options.indexes ?? [],
});
const { origin } = await startServer(
  {
    ...config,
    http,
    ...(options.history === undefined ? {} : { history: options.history }),
    ...(options.declared === true ? { collections: new Map([["articles", articles]]) } : {}),
  },
  {
    storeOptions: {
      groupCommit: options.groupCommit ?? true,
      ...(options.queryMs === undefined ? {} : { queryMs: options.queryMs }),
    },
  },
);
process.stdout.write(`${new URL(origin).port}\n`);

process.on("message", () => process.send?.(process.memoryUsage()));
