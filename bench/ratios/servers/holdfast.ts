/** The service. With `declared`, the collection `articles` has a schema and indexes. Otherwise it is in open mode. */
import type { SpanExporter } from "@opentelemetry/sdk-trace-node";
import { defineCollection } from "../../../src/collection/declaration.ts";
import { loadConfig } from "../../../src/config.ts";
import { startServer } from "../../../src/server.ts";
import { isPostgresUrl } from "../../../src/store/address.ts";
import type { History } from "../../../src/store/port/options.ts";
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
  /** The value of HOLDFAST_SECRET. @default none */
  secret?: string;
  /** @default 1 */
  threads?: number;
  /** Whether metrics are on. */
  metrics?: boolean;
  /** Whether every request has spans, which are thrown away. */
  traces?: boolean;
};
if (options.traces === true) await registerTracing();
const config = await loadConfig({
  flags: {
    store: isPostgresUrl(options.store) ? options.store : `sqlite:${options.store}`,
    port: "0",
    threads: String(options.threads ?? 1),
    ...(options.config === undefined ? {} : { config: options.config }),
  },
  env: options.secret === undefined ? {} : { HOLDFAST_SECRET: options.secret },
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
    ...(options.metrics === true ? { metrics: { host: "127.0.0.1", port: 0 } } : {}),
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

/** Registers the SDK as a user does, but with an exporter that keeps nothing. */
async function registerTracing(): Promise<void> {
  const { BatchSpanProcessor, NodeTracerProvider } = await import("@opentelemetry/sdk-trace-node");
  const exporter: SpanExporter = {
    export: (_spans, done) => done({ code: 0 }),
    shutdown: async () => {},
  };
  new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
}

process.on("message", () => process.send?.(process.memoryUsage()));
