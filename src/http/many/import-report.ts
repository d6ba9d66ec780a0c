/** The report of an import, as the response contains it. */
import type { ColumnSummary } from "../../import/cells.ts";
import type { ImportResult, Listed } from "../../import/item-reader.ts";
import type { InputLocation } from "../../import/items.ts";

/** The most errors in one report. */
export const maxErrors = 50;

/** The most resources that the report names for each kind of id. */
export const maxNamedIds = 5;

/** An error of one resource. */
interface ReportedError extends InputLocation {
  pointer?: string;
  code: string;
  detail: string;
  value?: string;
}

/** Resources whose id has changed: how many, and the first of them. */
interface ReportedIds {
  count: number;
  first: readonly (InputLocation & { id?: string })[];
}

/** What an import did, or what it would do. */
export interface ImportReport {
  dryRun: boolean;
  /** Whether the body was read to its end. */
  complete: boolean;
  /** The resources in the body. */
  resources: number;
  invalid: number;
  /** The resources that were written, or in a dry run would be. */
  imported: number;
  /** With a unique key: how many of these are new resources, how many resources they changed, and how many were the same already. */
  made?: number;
  changed?: number;
  same?: number;
  /** The first errors, in the order of the body. */
  errors: readonly ReportedError[];
  /** Resources without an id, which got a generated one. */
  generatedIds: ReportedIds;
  /** Resources with an id that does not fit the collection, which got another one. */
  replacedIds: ReportedIds;
  /** Resources with a number as id, which is now a string. */
  stringIds: ReportedIds;
  /** Resources with the id of a deleted resource. Absent in the report of a task, which passes its resources to the store later. */
  reusedIds?: ReportedIds;
  /** The columns of CSV, in the order of the body: at most 1,000. */
  columns?: readonly ColumnSummary[];
}

/** The report of a result, after `read` resources were read. */
export function reportOf(
  result: ImportResult,
  { read, dryRun }: { read: number; dryRun: boolean },
): ImportReport {
  const { isAccepted, isBroken, invalid, imported, merged, withoutId, unfitId, numberId, reusedId, columns } =
    result;
  const errors = invalid.first().flatMap(({ location, note }) =>
    note.map(({ pointer, code, detail, value }) => ({
      ...location,
      ...(pointer === undefined ? {} : { pointer }),
      code,
      detail,
      ...(value === undefined ? {} : { value }),
    })),
  );
  return {
    dryRun,
    complete: !isBroken,
    resources: read,
    invalid: invalid.count,
    imported: isAccepted ? imported : 0,
    ...(merged && isAccepted && { made: imported - merged.changed, ...merged }),
    ...(merged && !isAccepted && { made: 0, changed: 0, same: 0 }),
    errors: errors.slice(0, maxErrors),
    generatedIds: idsOf(withoutId),
    replacedIds: idsOf(unfitId),
    stringIds: idsOf(numberId),
    ...(reusedId && { reusedIds: idsOf(reusedId) }),
    ...(columns && { columns }),
  };
}

function idsOf(tally: Listed): ReportedIds {
  const first = tally
    .first()
    .map(({ location, note }) => ({ ...location, ...(note === "" ? {} : { id: note }) }));
  return { count: tally.count, first };
}
