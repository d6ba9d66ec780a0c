/** The background work of an open store: it builds indexes and search words, removes old data, and walks through the rows. */
import { BuildReports, buildPauseMs, hasOldWords, StepTaken } from "../../core/building.ts";
import type { Damage } from "../../core/checksums.ts";
import { Retention } from "../../core/log-plans.ts";
import type { Scheduler } from "../../core/scheduler.ts";
import { walk, walkTimes } from "../../core/walk.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import { findHeld, hold, lockHeads } from "../commit/holds.ts";
import type { Connections } from "../connection/connections.ts";
import { describeError, sqlState } from "../connection/failures.ts";
import { smallWrite, transact } from "../connection/transaction.ts";
import { walkedDatabase } from "../copy/database-contents.ts";
import { storePlans } from "../postgres-dialect.ts";
import type { Catalogue } from "../tables/declared-catalogue.ts";
import { building } from "../tables/migrate.ts";
import { isUnfinished } from "../tables/prepare.ts";

/** The parts of a store that the work uses. */
export interface BackgroundParts
  extends BuildParts,
    Pick<ResolvedStoreOptions, "history" | "sweepMs" | "onWarning" | "onInfo"> {
  /** For work without a time limit. */
  long: Connections;
  damage: Damage;
  /** Whether this thread opened the store first. Only this one builds, and walks through the rows. */
  isFirst: boolean;
}

/** The pause before the first piece of work, so that a new service answers requests first. In milliseconds. */
const initialDelayMs = 200;

/** The pause between two checks for indexes and search words that another thread or instance has not completed. In milliseconds. */
const buildEveryMs = 5_000;

/** Starts the work. Returns a function that looks at once for what is to be built. */
export function startWork(scheduler: Scheduler, parts: BackgroundParts): () => void {
  const { connections, history, sweepMs, isFirst } = parts;
  const retention = new Retention(storePlans.logs, history, slice);
  const sweep = () => sweepSome(connections, retention, Date.now());
  if (sweepMs < Number.POSITIVE_INFINITY)
    scheduler.repeat(sweep, { pauseMs: 5, everyMs: sweepMs, initialDelayMs });
  if (!isFirst) return () => {};
  scheduler.repeat(walkSteps(parts), walkTimes);
  const reports = new BuildReports(parts);
  const build = () => buildNext(parts, reports);
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

/** Removes some old changes and expired receipts. Returns whether there may be more. */
async function sweepSome(connections: Connections, retention: Retention, now: number): Promise<boolean> {
  if (await isUnfinished(connections)) return false; // the copy must be compared before anything is removed
  const hadReceipts = await transact(connections, smallWrite, async (transaction) => {
    const hasRemoved = await transaction.runPlan(storePlans.receipts.trim(now));
    if (!hasRemoved) await transaction.rollBack(); // nothing to flush
    return hasRemoved;
  });
  const { due, isMore } = await connections.runPlan(retention.step(now));
  if (due !== undefined)
    await transact(connections, smallWrite, (transaction) => transaction.runPlan(retention.remove(due)));
  return isMore || hadReceipts;
}

/** What building depends on. */
export interface BuildParts {
  connections: Connections;
  /** The catalogue as it was last read. */
  catalogue: () => Catalogue;
  /** Reads the catalogue again. */
  reload: () => Promise<void>;
}

/**
 * Takes the next step of indexes and search words that are not complete. Returns whether there may be more. If another instance builds
 * them at the same time, this instance waits. If the steps of a collection fail, this takes those of others, and throws only if no step
 * succeeds.
 */
export async function buildNext(
  { connections, catalogue, reload }: BuildParts,
  reports?: BuildReports,
): Promise<boolean> {
  let failure: unknown;
  for (const state of await connections.runPlan(building.incomplete())) {
    if (!catalogue().byNumber.has(state.number)) await reload();
    const collection = catalogue().byNumber.get(state.number);
    if (collection === undefined) continue; // a copy is incomplete
    const isConstrained = catalogue().relatedTo(collection).length > 0;
    const step = await transact(connections, smallWrite, async (transaction) => {
      // Removing all words waits for the writers, which write words before they lock the head.
      if (hasOldWords(collection, state)) await hold(transaction, [state.number]);
      const held = await findHeld(transaction, [state.number]);
      if (held.size > 0) return undefined;
      if (isConstrained) await transaction.run(lockHeads([state.number])); // as its writers begin
      return transaction.runPlan(building.step(collection, state));
    }).catch(async (error: unknown) => {
      if (error instanceof StepTaken) await reload();
      else {
        failure ??= error;
        if (error instanceof TypeError || sqlState(error)?.startsWith("42"))
          reports?.noteFailure(`${collection.name}: building its indexes failed: ${describeError(error)}`);
      }
      return undefined;
    });
    if (step === undefined) continue;
    if (step.after !== collection) await reload();
    reports?.note(step.report);
    return true;
  }
  if (failure !== undefined) throw failure;
  return false;
}
