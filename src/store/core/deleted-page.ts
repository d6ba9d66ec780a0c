/**
 * A page of deleted resources, each as it was. The ids come from the table of deleted ids, and the texts from their last deletes in
 * the change log. The whole list is filtered and sorted in memory, but only what the page needs stays there.
 */
import { deletedMember, deletionOf, withDeletion } from "../../collection/deletions.ts";
import { idIn } from "../../collection/ids.ts";
import type { SortKey } from "../../collection/indexes.ts";
import { isIdPath } from "../../collection/paths.ts";
import { leavesOf, matches, ownPathsOf } from "../../query/filter.ts";
import { comparePositions, cursorValuesOf } from "../../query/sort.ts";
import { authorOf, type ChangedResource } from "../port/change-log.ts";
import { type DeletedQuery, type ListQuery, maxPageBytes, type Page } from "../port/page.ts";
import type { Stored } from "../port/stored.ts";
import type { Plan } from "../sql/plans.ts";
import { type HistoryPlans, type LoggedDelete, textOfChain } from "./history-plans.ts";
import { FirstCandidates, type PastReads } from "./past-page.ts";
import type { RelatedPart } from "./related.ts";
import type { TargetReads } from "./target-reads.ts";

/** Deleted ids that are looked at by one statement. */
const idsAtOnce = 1_000;

/** A query for a page of deleted resources. */
type Query = Omit<ListQuery, "collection" | "client" | "sort"> & {
  deleted: DeletedQuery;
  sort?: readonly SortKey[];
} & RelatedPart;

/** The page. All statements must see the same state. */
export function* pageOfDeleted(
  query: Query,
  { history, idKind, targetsOf }: Pick<PastReads, "history" | "idKind" | "targetsOf">,
): Plan<Page> {
  const { deleted, filter, sort = [], after, offset = 0, limit } = query;
  const compare = comparePositions(sort);
  const first = new FirstCandidates<LoggedDelete>(offset + limit + 1, (a, b) => compare(a.values, b.values));
  const needsTexts = !isOfDeletions(query);
  const targets = targetsOf(filter, query.related);
  let total = 0;
  for (let id: string | undefined = ""; id !== undefined; ) {
    const { deletes, last }: { deletes: LoggedDelete[]; last: string | undefined } =
      yield* history.deletesAfter(id, idsAtOnce);
    id = last;
    const use = (each: LoggedDelete, text: string) => {
      const resource = { ...JSON.parse(text), [deletedMember]: memberOf(each, deleted) };
      if (filter !== undefined && !matches(filter, resource, targets.targetOf)) return;
      total++;
      const values = cursorValuesOf(resource, sort);
      if (after === undefined || compare(values, after) > 0) first.add({ values, resource: each });
    };
    if (needsTexts) yield* forTexts(deletes, { history, targets }, use);
    else for (const each of deletes) use(each, JSON.stringify({ id: idIn(idKind, each.id) }));
  }
  const candidates = first.sorted().slice(offset);
  const wanted = candidates.slice(0, limit).map(({ resource }) => resource);
  const items: Stored[] = [];
  let bytes = 0;
  yield* forTexts(wanted, { history }, (each, plain) => {
    const text = deleted.hasMember ? withDeletion(plain, memberOf(each, deleted)) : plain;
    bytes += Buffer.byteLength(text);
    if (items.length > 0 && bytes > maxPageBytes) return false;
    items.push({ id: each.id, version: each.version - 1, text, updatedAt: each.at });
    return true;
  });
  const { sequence } = yield* history.head();
  return { items, more: candidates.length > items.length, total, sequence };
}

/** Whether the ids and `_deleted` alone decide about the filter and the order. */
function isOfDeletions({ filter, sort = [] }: Query): boolean {
  const paths = [
    ...sort.map(({ path }) => path),
    ...(filter === undefined ? [] : leavesOf(filter).flatMap(ownPathsOf)),
  ];
  return paths.every((path) => isIdPath(path) || path[0] === deletedMember);
}

function memberOf({ at, principal, version }: LoggedDelete, deleted: DeletedQuery): object {
  return deletionOf({ at, by: authorOf(principal).principal, version: version - 1 }, deleted);
}

/**
 * Calls `use` with the text of each resource before its delete, in order, until it returns `false`. With `targets`, when the related
 * resources of these texts are known.
 */
function* forTexts(
  deletes: readonly LoggedDelete[],
  { history, targets }: { history: HistoryPlans; targets?: TargetReads },
  use: (each: LoggedDelete, text: string) => unknown,
): Plan<void> {
  const changed = deletes.map(
    ({ id, version, at }): ChangedResource => ({
      id,
      version,
      existed: true,
      lastVersion: version,
      lastAt: at,
      exists: false,
    }),
  );
  for (let from = 0; from < changed.length; ) {
    const found = yield* history.texts(changed, from, false);
    if (found.length === 0) throw new Error("A change of the log was not found again.");
    const all = found.map((texts, n) => {
      const { id, version } = deletes[from + n] as LoggedDelete;
      const text = textOfChain(id, version, texts);
      if (text === undefined) throw new Error("A delete of the log has no text.");
      return text;
    });
    if (targets?.isNeeded) yield* targets.read(all.map((text) => JSON.parse(text)));
    for (const text of all) if (use(deletes[from++] as LoggedDelete, text) === false) return;
  }
}
