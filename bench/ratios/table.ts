/** The ratios that the project holds itself to, by name. */
import type { Effort } from "../harness/effort.ts";
import type { Figure } from "../harness/figure.ts";
import { measureAuth } from "./auth.ts";
import { measureBackups } from "./backup.ts";
import { measureBatches } from "./batch.ts";
import { measureCode } from "./code.ts";
import { measureConsole } from "./console.ts";
import { measureCreates } from "./create.ts";
import { measureFairness } from "./fairness.ts";
import { measureFeed } from "./feed.ts";
import { measureFigures } from "./figures.ts";
import { measureHistory } from "./history.ts";
import { measureImport } from "./import.ts";
import { measureIncrements } from "./increment.ts";
import { measureReadLatency } from "./latency.ts";
import { measureLists } from "./lists.ts";
import { measureMemory } from "./memory.ts";
import { measureObservation } from "./observe.ts";
import { measurePasswords } from "./passwords.ts";
import { measureTravelling } from "./postgres.ts";
import { measurePostgresLists } from "./postgres-lists.ts";
import { measureReads } from "./read.ts";
import { measureRelated } from "./related.ts";
import { measureRewind } from "./rewind.ts";
import { measureRules } from "./rules.ts";
import { measureSignIns } from "./sign-in.ts";
import { measureStart } from "./start.ts";
import { measureTasks } from "./task.ts";
import { measureThreads } from "./threads.ts";
import { measureUpdates } from "./update.ts";

/** The measurements. Each returns its figures with their aims. */
export const ratios: Readonly<Record<string, (effort: Effort) => Promise<Figure[]>>> = {
  start: measureStart,
  read: measureReads,
  auth: measureAuth,
  "sign-in": measureSignIns,
  rules: measureRules,
  create: measureCreates,
  update: measureUpdates,
  increment: measureIncrements,
  batch: measureBatches,
  latency: measureReadLatency,
  history: measureHistory,
  rewind: measureRewind,
  task: measureTasks,
  fairness: measureFairness,
  feed: measureFeed,
  import: measureImport,
  backup: measureBackups,
  memory: measureMemory,
  lists: measureLists,
  related: measureRelated,
  figures: measureFigures,
  observe: measureObservation,
  threads: measureThreads,
  passwords: measurePasswords,
  code: measureCode,
  postgres: measureTravelling,
  "postgres-lists": measurePostgresLists,
  console: measureConsole,
};
