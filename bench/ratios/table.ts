/** The ratios that the project holds itself to, by name. */
import type { Effort } from "../harness/effort.ts";
import type { Figure } from "../harness/figure.ts";
import { measureAuth } from "./auth.ts";
import { measureBatches } from "./batch.ts";
import { measureCreates } from "./create.ts";
import { measureFeed } from "./feed.ts";
import { measureHistory } from "./history.ts";
import { measureImport } from "./import.ts";
import { measureReadLatency } from "./latency.ts";
import { measureLists } from "./lists.ts";
import { measureMemory } from "./memory.ts";
import { measureTravelling } from "./postgres.ts";
import { measureReads } from "./read.ts";
import { measureRules } from "./rules.ts";
import { measureStart } from "./start.ts";
import { measureUpdates } from "./update.ts";

/** Each gives its figures, with the aims beside them. */
export const ratios: Readonly<Record<string, (effort: Effort) => Promise<Figure[]>>> = {
  start: measureStart,
  read: measureReads,
  auth: measureAuth,
  rules: measureRules,
  create: measureCreates,
  update: measureUpdates,
  batch: measureBatches,
  latency: measureReadLatency,
  history: measureHistory,
  feed: measureFeed,
  import: measureImport,
  memory: measureMemory,
  lists: measureLists,
  postgres: measureTravelling,
};
