/** One attempt at a rewind: plans it, has its commit written or only judged, and reports. The path `_rewind` and the command use it. */

import { Problem } from "../errors.ts";
import type { HistoryMissing } from "../store/port/change-log.ts";
import type { Commit } from "../store/port/commit.ts";
import {
  type Misfit,
  Moved,
  planRewind,
  type RewindAsked,
  type RewindCounts,
  type RewindPlan,
} from "./rewind-plan.ts";

/** What a rewind did, or what it would do. */
export interface RewindReport extends RewindCounts {
  /** The time that the collections went back to. */
  to: string;
  dryRun: boolean;
  /** A rewind to this time undoes this one. Absent if nothing was written. */
  before?: string;
  /** The rewound collections by name. */
  collections: readonly (RewindCounts & { name: string })[];
  /** What does not fit today's schemas, unique attributes and references. */
  misfits: { first: readonly Misfit[]; more: boolean };
}

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

/** The report of a plan. `isWritten`: its commit succeeded. */
function rewindReport(
  { commit, counts, misfits }: RewindPlan,
  { to, dryRun, isWritten }: { to: number; dryRun: boolean; isWritten: boolean },
): RewindReport {
  const collections = [...counts].map(([name, each]) => ({ name, ...each }));
  const sum = (kind: keyof RewindCounts) => collections.reduce((all, each) => all + each[kind], 0);
  const hasBefore = isWritten && commit.changes.length > 0;
  return {
    to: new Date(to).toISOString(),
    dryRun,
    ...(hasBefore ? { before: new Date(commit.at - 1).toISOString() } : {}),
    created: sum("created"),
    replaced: sum("replaced"),
    deleted: sum("deleted"),
    collections,
    misfits: { first: misfits.first, more: misfits.hasMore },
  };
}

/** Why a rewind is refused, in one sentence. */
export function refusalOf({ first, more }: RewindReport["misfits"]): string {
  const { length } = first;
  const many = more ? `More than ${length} values do` : length === 1 ? "1 value does" : `${length} values do`;
  return `Nothing was rewound: ${many} not fit today's schemas, unique attributes or references. Correct the declarations, choose another time, or also rewind the collections that the references lead to.`;
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
