/** All files of tests: to which tier each belongs, on which stores it runs, and with which others it shares a process. */
import { matchesGlob } from "node:path";
import { testFiles } from "../project.ts";
import type { Group } from "./run-tests.ts";

/** `npm run test:fast` runs the fast files, `npm test` also those in the middle, and `npm run test:slow` the slow ones. */
export type Tier = "fast" | "middle" | "slow";

/** Patterns of the files of each tier. All other files are in the middle. */
export const patterns: Readonly<Record<"fast" | "slow", readonly string[]>> = {
  /** Files that start no service, no store and no program. */
  fast: [
    "test/{collection,console,json,query,soak}/*",
    "test/{postgres-docs,rooms}*",
    "test/access/{administrators,api-key,first-key,key-roles,rules,where}*",
    "test/bench/{comparison,performance-docs,ratio-tables,turns}*",
    "test/client/event-frames*",
    "test/commands/{input,words}*",
    "test/config/{config,history,remade,shown-options}*",
    "test/faults/*",
    "test/http/{batch-faults,formats,judge,last-state,links,problem}*",
    "test/pages/{commands,links,names,plain-english,spelling}*",
    "test/postgres/typed-parameters*",
    "test/users/{mail-address,networks}*",
    "test/store/{address,advice,back-off,batch,file-access,hot-pages,hot-resources,keyed-queue,list-statements,slow-reads,superseded,turn-budget}*",
  ],
  /** Files that start browsers, packages, images or many programs, kill them, or try very much. */
  slow: [
    "test/{browser,deploy,durability,explorer,linearizability,threads}/**",
    "test/{demo,events-docs,first-hour}*",
    "test/bench/parts*",
    "test/client/pack*",
    "test/clients/event-streams*",
    "test/commands/{binary,clone,guides,life,lossy-log,pack,publish,terminal,watch}*",
    "test/copy/{broken-off,copy}*",
    "test/http/{batch-property,compression-load,openapi-judges,rewind-load}*",
    "test/postgres/{pgbouncer,processes,server-faults,standby,threads-wait}*",
    "test/store/{joined,postgres-model,sqlite-model}*",
  ],
};

/** Files of `test/http/` whose result depends on the store. They run on PostgreSQL too, in this tier. All others run on SQLite only. */
export const onPostgres: Readonly<Record<"middle" | "slow", readonly string[]>> = {
  middle: [
    // commits, races, keys
    "administration/collections",
    "administration/keys",
    "batch",
    "batch-races",
    "by-unique-key",
    "imports-on",
    "bulk",
    "conditional",
    "create",
    "delete",
    "deleted",
    "expiry",
    "expiry-oracle",
    "hostile",
    "idempotency",
    "idempotency-stuck",
    "integer-ids",
    "json-values",
    "lost-updates",
    "own-ids",
    "patch",
    "references",
    "reads-of-writes",
    "replace",
    "shared-flushes",
    "stuck-writer",
    "tasks",
    "unique",
    "unique-combinations",
    "update",
    // lists
    "access/views",
    "figures",
    "instants",
    "list",
    "lists-hostile",
    "lists-pages",
    "lists-search",
    "nested",
    "order",
    "paging",
    "past-lists",
    "related",
    // history, rewind, imports, feed
    "changes-property",
    "event-positions",
    "events",
    "history",
    "imports",
    "rewind",
    "shared-streams",
    "webhooks/changed",
    "webhooks/durable",
    // people
    "users/alike",
    "users/attacks",
    "users/deletion",
    "users/hijack",
  ].map(httpFile),
  slow: [
    "access/bulk",
    "access/figures",
    "access/matrix",
    "access/restore-rights",
    "batch-property",
    "bulk-bounds",
    "collections",
    "event-loop",
    "event-streams",
    "event-views",
    "health",
    "import-bounds",
    "large-reads",
    "large-writes",
    "list-turns",
    "metrics",
    "quiet-streams",
    "read",
    "related-bounds",
    "related-oracle",
    "rewind-bounds",
    "rewind-load",
    "timestamps",
    "traces",
    "webhooks/delivery",
    "webhooks/many",
  ].map(httpFile),
};

/** Slow files that run on both stores, too. */
export const slowOnPostgres = [
  "test/browser/console/lists.test.ts",
  "test/threads/idempotency.test.ts",
  "test/threads/imports.test.ts",
  "test/threads/life.test.ts",
  "test/threads/shared.test.ts",
  "test/threads/streams.test.ts",
  "test/threads/threads.test.ts",
];

const long = "it takes long, and starts before the others";

/**
 * Files with a process of their own, each with the reason. They start in this order, before the others. Slow files have one in any
 * case.
 */
export const alone: Readonly<Record<string, string>> = {
  "test/first-hour.test.ts": long,
  "test/explorer/explorer.test.ts": long,
  "test/store/sqlite.test.ts": long,
  "test/http/rewind-load.test.ts": long,
  "test/browser/console/service.test.ts": long,
  "test/browser/docs-page.test.ts": long,
  "test/http/openapi-judges.test.ts": long,
  "test/browser/console/screens.test.ts": long,
  "test/store/postgres.test.ts": long,
  "test/store/joined.test.ts": long,
  "test/copy/copy.test.ts": long,
  "test/commands/backup.test.ts": long,
  "test/http/access/matrix.test.ts": long,
  "test/commands/pack.test.ts": long,
  "test/commands/binary.test.ts": long,
  "test/commands/watch.test.ts": long,
  "test/demo.test.ts": long,
  "test/http/connections.test.ts": "it measures the memory of the process",
  "test/http/event-loop.test.ts": "it measures how long the event loop stands still",
  "test/users/password-hash.test.ts": "it measures how long the event loop stands still",
};

/** So many files share a process at most. With fewer processes, a processor would wait for the last one. */
const filesTogether = 12;

/** The tier of a file of tests. */
export function tierOf(file: string): Tier {
  const isIn = (tier: "fast" | "slow") => patterns[tier].some((pattern) => matchesGlob(file, pattern));
  return isIn("fast") ? "fast" : isIn("slow") ? "slow" : "middle";
}

/** One run of a file. */
interface Job {
  file: string;
  store: "sqlite" | "postgres";
  sharesProcess: boolean;
}

/** The groups of some tiers, in the order in which they start. */
export function groupsOf(tiers: readonly Tier[]): Group[] {
  const groups: Group[] = [];
  if (tiers.includes("fast")) groups.push({ files: filesOf("fast"), store: "sqlite" });
  const jobs = tiers.filter((tier) => tier !== "fast").flatMap(jobsOf);
  const order = Object.keys(alone);
  const place = ({ file }: Job) => (order.includes(file) ? order.indexOf(file) : order.length);
  const own = jobs.filter(({ sharesProcess }) => !sharesProcess).sort((a, b) => place(a) - place(b));
  groups.unshift(...own.map(({ file, store }) => ({ files: [file], store })));
  for (const store of ["postgres", "sqlite"] as const) {
    const files = jobs.filter((job) => job.sharesProcess && job.store === store).map(({ file }) => file);
    for (let n = 0; n < files.length; n += filesTogether)
      groups.push({ files: files.slice(n, n + filesTogether), store });
  }
  return groups;
}

function jobsOf(tier: "middle" | "slow"): Job[] {
  const files = filesOf(tier);
  const alsoOnPostgres = [...onPostgres[tier], ...(tier === "slow" ? slowOnPostgres : [])];
  return [
    ...files.map((file) => ({ file, store: "sqlite" as const })),
    ...alsoOnPostgres.map((file) => ({ file, store: "postgres" as const })),
  ].map((job) => ({ ...job, sharesProcess: tierOf(job.file) !== "slow" && !(job.file in alone) }));
}

function filesOf(tier: Tier): string[] {
  return testFiles().filter((file) => tierOf(file) === tier);
}

function httpFile(name: string): string {
  return `test/http/${name}.test.ts`;
}
