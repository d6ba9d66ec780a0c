/** One attempt at a rewind: plans it, has its commit written or only judged, and reports. The path `_rewind` and the command use it. */

import { Problem } from "../errors.ts";
import type { HistoryMissing } from "../store/port/change-log.ts";
import type { Commit } from "../store/port/commit.ts";
import { Moved, planRewind, type RewindAsked, type RewindPlan } from "./plan.ts";
import { type RewindReport, rewindReport } from "./report.ts";

/** What an attempt did. `committed` is absent if something does not fit: nothing was written. */
export interface RewindAttempt<Committed> {
  report: RewindReport;
  committed?: Committed;
}

/** The commit of a rewind. With `isDryRun`, it only says what the store would refuse. */
export type RewindCommit = RewindPlan["commit"] & Required<Pick<Commit, "isDryRun">>;

/**
 * Attempts a rewind. `commit` gets the report for its success, and returns `undefined` if other writes came first. Then this
 * returns `undefined` too, and another attempt can succeed. Even if resources do not fit, `commit` is called, with `isDryRun`:
 * the report then has everything that does not fit. Throws HistoryMissing, TOO_MANY_MATCHES if more than `max` resources would
 * change, CONTENT_TOO_LARGE, and what `commit` throws.
 */
export async function attemptRewind<Committed>(
  store: Parameters<typeof planRewind>[0],
  { isDryRun, max, ...asked }: RewindAsked & { max: number; isDryRun: boolean },
  commit: (commit: RewindCommit, report: RewindReport) => Promise<Committed | undefined>,
): Promise<RewindAttempt<Committed> | undefined> {
  const plan = await planRewind(store, asked).catch((error: unknown) => {
    if (error instanceof Moved) return undefined;
    throw error;
  });
  if (plan === undefined) return undefined;
  const { misfits } = plan;
  const { length } = plan.commit.changes;
  if (length > max) throw tooMany(length, max);
  const reportOf = (isWritten: boolean) => rewindReport(plan, { to: asked.to, dryRun: isDryRun, isWritten });
  const isOnlyJudged = isDryRun || !misfits.isEmpty;
  const report = reportOf(!isOnlyJudged);
  try {
    const committed = await commit({ ...plan.commit, isDryRun: isOnlyJudged }, report);
    if (committed === undefined) return undefined;
    if (misfits.isEmpty) return { report, committed };
  } catch (error) {
    misfits.addRefusals(error, plan.commit.changes);
  }
  return { report: reportOf(false) };
}

function tooMany(matched: number, max: number): Problem {
  const detail = `${matched} resources would change, but "max" is ${max}, so nothing was rewound. Send "max":${matched}, or a later time.`;
  return new Problem("TOO_MANY_MATCHES", detail, { matched });
}

/** The end of a message about a time before a history: which history, and when it begins. */
export function beforeHistory({ collection, since }: HistoryMissing): string {
  const begin = since === undefined ? "" : `, which begins at ${new Date(since).toISOString()}`;
  return `is before the history of ${collection}${begin}`;
}
