import type { Damage } from "../../core/damage.ts";
import { ReceiptPlans } from "../../core/receipt-plans.ts";
import { Retention } from "../../core/retention.ts";
import type { Scheduler } from "../../core/scheduler.ts";
import { buildPauseMs, wordsAreSplitAgain } from "../../core/search-index.ts";
import { walk, walkTimes } from "../../core/walk.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import type { Connections } from "../connection/connections.ts";
import { smallWrite, transact } from "../connection/transaction.ts";
import { walkedDatabase } from "../copy/walked-database.ts";
import { logPlans, postgresDialect, runPlan } from "../postgres-dialect.ts";
import type { Catalogue } from "../tables/catalogue.ts";
import { isUnfinished } from "../tables/prepare.ts";
import { buildSearchIndexes } from "./search-indexes.ts";

/** The parts of a store that the work uses. */
export interface BackgroundParts extends Pick<ResolvedStoreOptions, "history" | "sweepMs" | "onWarning"> {
  connections: Connections;
  /** The catalogue as it was last read. */
  catalogue: () => Catalogue;
  /** For work without a time limit. */
  long: Connections;
  damage: Damage;
  /** Whether this thread opened the store first. It walks through the rows. */
  isFirst: boolean;
}

/** The pause before the first piece of work, so that a new service answers requests first. In milliseconds. */
const initialDelayMs = 200;

/** The pause between two looks for search indexes that another service has not completed. In milliseconds. */
const buildEveryMs = 5_000;

/** Starts the work. Returns a function that looks for search indexes to build at once. */
export function startWork(scheduler: Scheduler, parts: BackgroundParts): () => void {
  const { connections, catalogue, history, sweepMs, onWarning, isFirst } = parts;
  let hasWarned = false;
  const warn = () => {
    if (!hasWarned) onWarning(wordsAreSplitAgain);
    hasWarned = true;
  };
  const retention = new Retention(logPlans, history, slice);
  const sweep = () => sweepSome(connections, retention, Date.now());
  scheduler.repeat(sweep, { pauseMs: 5, everyMs: sweepMs, initialDelayMs });
  if (isFirst) scheduler.repeat(walkSteps(parts), walkTimes);
  const build = () => buildSearchIndexes(connections, catalogue(), warn);
  return scheduler.repeat(build, { pauseMs: buildPauseMs, everyMs: buildEveryMs, initialDelayMs });
}

/** Returns a function that reads the next slice of a walk, and returns whether there is more. */
function walkSteps({ long, connections, damage, onWarning }: BackgroundParts): () => Promise<boolean> {
  const report = (text: string) => {
    damage.set(true);
    onWarning(text);
  };
  let walking: AsyncGenerator<void, boolean> | undefined;
  return async () => {
    if (await isUnfinished(connections)) return false; // the copy is compared with its source
    walking ??= walk(walkedDatabase(long), report);
    const step = await walking.next().catch((error: unknown) => {
      walking = undefined; // the next walk starts at the beginning
      throw error;
    });
    if (step.done !== true) return true;
    walking = undefined;
    damage.set(step.value);
    return false;
  };
}

/** The limits of one step. */
const slice = { changes: 500, bytes: 1024 * 1024 };
const receipts = new ReceiptPlans(postgresDialect);

/** Removes some old changes and expired receipts. Returns whether there may be more. */
async function sweepSome(connections: Connections, retention: Retention, now: number): Promise<boolean> {
  if (await isUnfinished(connections)) return false; // the copy must be compared before anything is removed
  const hadReceipts = await transact(connections, smallWrite, async (transaction) => {
    const hasRemoved = await transaction.runPlan(receipts.trim(now));
    if (!hasRemoved) await transaction.rollBack(); // nothing to flush
    return hasRemoved;
  });
  const hadChanges = await runPlan(retention.step(now), (statement) => connections.run(statement));
  return hadChanges || hadReceipts;
}
