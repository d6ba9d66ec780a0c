/** All files of tests: on which stores they run, and in which order. */
import { testFiles } from "../project.ts";
import type { Job } from "./run-tests.ts";

/**
 * Files of `test/http/` that run once, because what they test is the same on every store. All others run on SQLite and on
 * PostgreSQL.
 */
export const sameOnEveryStore = [
  "administration/configuration",
  // sockets, limits of connections, TLS, proxies
  "compression-load",
  "compression",
  "connections",
  "large-bodies",
  "overload",
  "proxies",
  "rate",
  "raw-sockets",
  "shared-limits",
  "slow-clients",
  "streams",
  "tls",
  "turns",
  // routing, methods, hosts and CORS
  "access/quotas",
  "any-origin",
  "hosts-and-cors",
  "options",
  // formats of responses, content negotiation, preferences, errors
  "errors",
  "formats",
  "links",
  "lists-fields",
  "lists-formats",
  "negotiation",
  "page-limit",
  "prefer",
  "problem",
  "wide-tables",
  // parsing and judging of requests
  "batch-faults",
  "dates",
  "judge",
  "lists-query",
  // the way to the receivers of webhooks
  "webhooks/addresses",
  "webhooks/connections",
  "webhooks/hostile",
  "webhooks/hostile-urls",
  "webhooks/tls",
  // pages and descriptions
  "asyncapi",
  "console",
  "described/answer-judge",
  "front-page",
  "openapi-examples",
  "openapi",
  "webhooks/page",
  // files that open their own SQLite store, or no store
  "embed",
  "lists-gone",
  "probe",
  "restart",
].map(httpFile);

/** Files that take long, the longest first. They start before the others, so that no processor waits for them at the end. */
export const longFiles = [
  "test/first-hour.test.ts",
  "test/browser/console/screens.test.ts",
  "test/store/joined.test.ts",
  "test/linearizability/threads.test.ts",
  "test/changes/feed-property.test.ts",
  "test/store/sqlite.test.ts",
  "test/store/postgres.test.ts",
  "test/store/postgres-model.test.ts",
  "test/store/postgres-figures.test.ts",
  "test/store/postgres-related.test.ts",
  "test/store/postgres-rewind.test.ts",
  "test/demo.test.ts",
  "test/store/sqlite-model.test.ts",
  "test/store/sqlite-figures.test.ts",
  "test/store/sqlite-related.test.ts",
  "test/durability/retry.test.ts",
  "test/browser/docs-page.test.ts",
  "test/http/lost-updates.test.ts",
  "test/http/bulk-bounds.test.ts",
  "test/http/openapi.test.ts",
  "test/commands/life.test.ts",
  "test/commands/watch.test.ts",
  "test/commands/binary.test.ts",
  "test/commands/import-csv.test.ts",
  "test/durability/feed-load.test.ts",
  "test/copy/broken-off.test.ts",
  "test/durability/kill.test.ts",
  "test/http/connections.test.ts",
  "test/postgres/server-faults.test.ts",
  "test/postgres/standby.test.ts",
  "test/store/history-property.test.ts",
  "test/linearizability/history.test.ts",
];

/** Files outside `test/http/` that run on both stores. */
export const alsoOnBothStores = [
  "test/browser/console/lists.test.ts",
  "test/threads/idempotency.test.ts",
  "test/threads/imports.test.ts",
  "test/threads/life.test.ts",
  "test/threads/shared.test.ts",
  "test/threads/streams.test.ts",
  "test/threads/threads.test.ts",
];

/** Every file, on each of its stores. */
export function allJobs(): Job[] {
  const files = [...new Set([...longFiles, ...testFiles()])];
  return files.flatMap((file): Job[] => {
    if (!file.startsWith("test/http/") && !alsoOnBothStores.includes(file)) return [{ file }];
    const onSqlite: Job = { file, store: "sqlite" };
    return sameOnEveryStore.includes(file) ? [onSqlite] : [onSqlite, { file, store: "postgres" }];
  });
}

function httpFile(name: string): string {
  return `test/http/${name}.test.ts`;
}
