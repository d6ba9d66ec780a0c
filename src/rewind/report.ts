/** The report of a rewind, as responses and the command show it. */
import type { Misfit } from "./misfits.ts";
import type { RewindCounts, RewindPlan } from "./plan.ts";

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

/** The report of a plan. `isWritten`: its commit succeeded. */
export function rewindReport(
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
