/** What a consumer selects of the changes of its collections: kinds of changes, a filter, and attributes. Its declaration says it. */
import type { Collection } from "../../collection/collection.ts";
import { shortJson } from "../../collection/messages.ts";
import type { Fields } from "../../collection/visibility.ts";
import type { Violation } from "../../errors.ts";
import type { Filter } from "../../query/filter.ts";
import { readOwnFilter } from "../../query/filter-request.ts";
import { emptyFilterSize } from "../../query/reading.ts";
import type { ViewOf } from "../../query/related-resources.ts";
import { inBody, Violations } from "../../query/violations.ts";

/** The filter of a consumer for its collection, and what is wrong with it. `viewOf` is only for advice. */
export function readSelectionFilter(
  declared: unknown,
  collection: Collection,
  viewOf: ViewOf,
): { filter: Filter; violations: readonly Violation[] } {
  const violations = new Violations({ hasSubjects: false }); // the error of an attribute names its place
  const reading = { collection, violations, used: emptyFilterSize(), viewOf, refusesNow: true };
  const filter = readOwnFilter(declared, inBody("filter"), reading);
  return { filter, violations: violations.all };
}

/** The attributes of `data`. What is named with a minus sign is left out. */
export function selectedFields(fields: readonly string[]): Fields {
  const leftOut = fields.flatMap((name) => (name.startsWith("-") ? [name.slice(1)] : []));
  if (leftOut.length > 0) return { kind: "without", names: new Set(leftOut) };
  return { kind: "only", names: new Set(fields) };
}

/** What is wrong with a list of attributes, after its name; `undefined` if nothing is. */
export function fieldsFault(fields: readonly string[]): string | undefined {
  const leftOut = fields.filter((name) => name.startsWith("-"));
  if (leftOut.includes("-id")) return 'leaves out "id", which all data has';
  if (leftOut.length === 0 || leftOut.length === fields.length) return undefined;
  return `names attributes, and leaves out ${shortJson(leftOut[0]?.slice(1))}. Do one of them`;
}
