/**
 * A page of a list as it was at an earlier time: the current list, with every change after that time undone.
 *
 * Resources without such a change come from the current list, page by page. The others are rebuilt one by one, filtered
 * and sorted in memory. Only their ids, and the sort values of those that the page needs, are in memory at the same time.
 */
import { type IdKind, idIn } from "../../collection/ids.ts";
import type { SortKey } from "../../collection/indexes.ts";
import { allOf, matches, type StoreFilter, type StoreLeaf } from "../../query/filter.ts";
import { type CursorValues, comparePositions, cursorValuesOf } from "../../query/sort.ts";
import { type ChangedResource, type ChangedTexts, HistoryMissing } from "../port/change-log.ts";
import { toPlace } from "../port/log-place.ts";
import { type ListQuery, maxPageBytes, type Page } from "../port/page.ts";
import type { Stored } from "../port/stored.ts";
import type { Plan } from "../sql/plans.ts";
import { readChanged } from "./changes-since.ts";
import { type HistoryPlans, textOfChain } from "./history-plans.ts";
import type { RelatedPart } from "./related.ts";
import type { createTargetReads, TargetReads } from "./target-reads.ts";

/** Resources of the current list that are read at once, after the first page. */
const resourcesAtOnce = 1_000;

/** A query for a page as of a time. */
export type PastQuery = Omit<ListQuery, "collection" | "client" | "sort"> & {
  at: number;
  sort?: readonly SortKey[];
} & RelatedPart;

/** A query for the current list. */
export type CurrentQuery = Omit<PastQuery, "at" | "visibleFilter">;

/** What the page is made from. All statements see the same state. */
export interface PastReads {
  idKind: IdKind;
  history: HistoryPlans;
  targetsOf: ReturnType<typeof createTargetReads>;
  /** A page of the current list. */
  current(query: CurrentQuery): Plan<Page>;
}

/** The page. Throws HistoryMissing, and QUERY_TOO_EXPENSIVE if there are more than `maxUndone` changes to undo. */
export function* pageAt(query: PastQuery, reads: PastReads): Plan<Page> {
  const sequences = yield* reads.history.sequences(query.at);
  const changed = yield* readChanged(reads.history, sequences);
  const list = { ...reads, query, changed: [...changed.values()], ids: new Set(changed.keys()) };
  const rebuilt = yield* rebuildChanged(list);
  const merged = yield* merge(list, rebuilt);
  return { ...merged, sequence: toPlace(sequences.past) };
}

interface PastList extends PastReads {
  query: PastQuery;
  changed: readonly ChangedResource[];
  /** The ids of `changed`. */
  ids: ReadonlySet<string>;
}

/** A resource that belongs to the list, with its place in it. */
export interface Candidate<Resource = ChangedResource> {
  values: CursorValues;
  resource: Resource;
}

/** The changed resources that belong to the list. */
interface Rebuilt {
  /** The first of them, in the order of the list, after the position of the query. As many as the page can need. */
  candidates: readonly Candidate[];
  /** How many there are in the whole list. */
  count: number;
  /** How many of the changed resources are in the current list. Known only if the total needs it. */
  currentCount: number;
}

/** Rebuilds the changed resources, and keeps those that belong to the list. */
function* rebuildChanged({ query, idKind, history, changed, targetsOf }: PastList): Plan<Rebuilt> {
  const { visibleFilter, limit, offset = 0, after, sort = [] } = query;
  const narrowed = wholeFilter(query);
  const compare = comparePositions(sort);
  const first = new FirstCandidates<ChangedResource>(offset + limit + 1, (a, b) =>
    compare(a.values, b.values),
  );
  const countsCurrent = narrowed !== undefined && query.count === true;
  const needsPresent = visibleFilter !== undefined || countsCurrent;
  const needed = countsCurrent ? changed : changed.filter(({ existed }) => existed);
  const targets = targetsOf(narrowed, query.related);
  const fits = (filter: StoreFilter | undefined, text: string) => matchesText(filter, text, targets);
  const hidden = visibleFilter && (yield* hiddenLives(needed, { history, visibleFilter, targets }));
  let count = 0;
  let currentCount = 0;
  yield* forTexts(needed, { history, needsPresent, targets }, (resource, texts) => {
    if (countsCurrent && texts.current !== undefined && fits(narrowed, texts.current.text)) currentCount++;
    if (!resource.existed || hidden?.has(resource.id)) return;
    const text = textThen(resource, texts);
    const present = texts.current?.text ?? texts.deleted;
    if (visibleFilter !== undefined && (present === undefined || !fits(visibleFilter, present))) return;
    if (!fits(narrowed, text)) return;
    count++;
    const values = positionOf({ id: resource.id, text }, query, idKind);
    if (after === undefined || compare(values, after) > 0) first.add({ values, resource });
  });
  return { candidates: first.sorted(), count, currentCount };
}

/** The ids that were used again after a life that ended where the caller cannot see it. */
function* hiddenLives(
  resources: readonly ChangedResource[],
  {
    history,
    visibleFilter,
    targets,
  }: Pick<PastReads, "history"> & { visibleFilter: StoreFilter; targets: TargetReads },
): Plan<ReadonlySet<string>> {
  const ends = resources.flatMap((each) => {
    const isEarlier = each.existed && each.end !== undefined && each.end < each.lastVersion;
    return isEarlier ? [{ ...each, version: each.end as number }] : [];
  });
  const hidden = new Set<string>();
  yield* forTexts(ends, { history, needsPresent: false, targets }, (end, texts) => {
    if (!matchesText(visibleFilter, textThen(end, texts), targets)) hidden.add(end.id);
  });
  return hidden;
}

/** Calls `use` with the texts of each resource, in order, when the related resources of all these texts are known. */
function* forTexts(
  resources: readonly ChangedResource[],
  { history, needsPresent, targets }: { history: HistoryPlans; needsPresent: boolean; targets: TargetReads },
  use: (resource: ChangedResource, texts: ChangedTexts) => void,
): Plan<void> {
  for (let from = 0; from < resources.length; ) {
    const found = yield* history.texts(resources, from, needsPresent);
    if (found.length === 0) throw new Error("A change of the log was not found again.");
    if (targets.isNeeded) {
      const all = found.flatMap((texts, n) => {
        const resource = resources[from + n] as ChangedResource;
        return [resource.existed ? textThen(resource, texts) : undefined, texts.current?.text, texts.deleted];
      });
      yield* targets.read(all.flatMap((text) => (text === undefined ? [] : [JSON.parse(text)])));
    }
    for (const texts of found) use(resources[from++] as ChangedResource, texts);
  }
}

function textThen({ id, version }: ChangedResource, texts: ChangedTexts): string {
  const text = textOfChain(id, version, texts);
  if (text === undefined) throw new HistoryMissing(undefined);
  return text;
}

function matchesText(filter: StoreFilter | undefined, text: string, { targetOf }: TargetReads): boolean {
  return filter === undefined || matches(filter, JSON.parse(text), targetOf);
}

/** The filter that a text of the list must match. */
function wholeFilter({ filter, visibleFilter }: PastQuery): StoreFilter | undefined {
  const filters = [filter, visibleFilter].filter((each) => each !== undefined);
  return filters.length === 0 ? undefined : allOf<StoreLeaf>(filters);
}

/** In the order of ids, the position is the id, so the resource does not have to be parsed. */
function positionOf(
  { id, text }: Pick<Stored, "id" | "text">,
  { sort = [] }: PastQuery,
  idKind: IdKind,
): CursorValues {
  return sort.length === 0 ? [idIn(idKind, id)] : cursorValuesOf(JSON.parse(text), sort);
}

/** The first candidates of a list. */
export class FirstCandidates<Resource = ChangedResource> {
  readonly #most: number;
  readonly #compare: (a: Candidate<Resource>, b: Candidate<Resource>) => number;
  readonly #items: Candidate<Resource>[] = [];

  constructor(most: number, compare: (a: Candidate<Resource>, b: Candidate<Resource>) => number) {
    this.#most = most;
    this.#compare = compare;
  }

  add(candidate: Candidate<Resource>): void {
    this.#items.push(candidate);
    if (this.#items.length >= 2 * this.#most + 1_000) this.#shorten();
  }

  sorted(): readonly Candidate<Resource>[] {
    this.#shorten();
    return this.#items;
  }

  #shorten(): void {
    this.#items.sort(this.#compare);
    this.#items.length = Math.min(this.#items.length, this.#most);
  }
}

/** A resource of the page: unchanged, or one whose text is still to be rebuilt. */
type Entry = Stored | ChangedResource;

/** Merges the changed resources with the unchanged ones. */
function* merge(list: PastList, rebuilt: Rebuilt): Plan<Omit<Page, "sequence">> {
  const { limit, offset = 0 } = list.query;
  const compare = comparePositions(list.query.sort ?? []);
  const unchanged = new Unchanged(list);
  const entries: Entry[] = [];
  let more = false;
  let bytes = 0;
  let used = 0;
  for (let place = 0; !more; place++) {
    const current = yield* unchanged.next();
    const candidate = rebuilt.candidates[used];
    const isRebuilt =
      candidate !== undefined && (current === undefined || compare(candidate.values, current.values) < 0);
    const entry = isRebuilt ? candidate.resource : current?.resource;
    if (entry === undefined) break;
    if (isRebuilt) used++;
    else unchanged.take();
    if (place < offset) continue;
    bytes += "text" in entry ? Buffer.byteLength(entry.text) : 0;
    more = entries.length === limit || (entries.length > 0 && bytes > maxPageBytes);
    if (!more) entries.push(entry);
  }
  const { items, isTruncated } = yield* itemsOf(entries, list);
  return { items, more: more || isTruncated, total: totalOf(list, rebuilt, unchanged.total) };
}

function totalOf(
  { query, changed }: PastList,
  { count, currentCount }: Rebuilt,
  current: number | undefined,
): number | undefined {
  if (current === undefined) return undefined;
  if (wholeFilter(query) !== undefined) return current - currentCount + count;
  return current - changed.filter(({ exists }) => exists).length + count;
}

/** The unchanged resources of the current list, in its order. */
class Unchanged {
  readonly #list: PastList;
  #resources: readonly Stored[] = [];
  #place = 0;
  /** The query for the next resources. `undefined` after the last ones. */
  #query: CurrentQuery | undefined;
  #head: { resource: Stored; values: CursorValues } | undefined;
  /** The total of the current list. */
  total: number | undefined;

  constructor(list: PastList) {
    this.#list = list;
    const { at: _, visibleFilter: __, filter: ___, offset = 0, ...query } = list.query;
    const filter = wholeFilter(list.query);
    const limit = offset === 0 ? query.limit + 1 : resourcesAtOnce;
    this.#query = { ...query, limit, ...(filter && { filter }) };
  }

  /** The next resource, which stays the next one until `take`. */
  *next(): Plan<{ resource: Stored; values: CursorValues } | undefined> {
    const { query, idKind, ids } = this.#list;
    while (this.#head === undefined) {
      const resource = this.#resources[this.#place++];
      if (resource === undefined) {
        if (this.#query === undefined) return undefined;
        yield* this.#read(this.#query);
      } else if (!ids.has(resource.id))
        this.#head = { resource, values: positionOf(resource, query, idKind) };
    }
    return this.#head;
  }

  take(): void {
    this.#head = undefined;
  }

  *#read(query: CurrentQuery): Plan<void> {
    const { items, more, total } = yield* this.#list.current(query);
    this.total ??= total;
    this.#resources = items;
    this.#place = 0;
    const last = items.at(-1);
    const { count: _, ...others } = query;
    this.#query =
      more && last !== undefined
        ? { ...others, limit: resourcesAtOnce, after: positionOf(last, this.#list.query, this.#list.idKind) }
        : undefined;
  }
}

/** The resources of a page as they were, until their texts reach `maxPageBytes`. */
function* itemsOf(
  entries: readonly Entry[],
  { history, query: { at } }: PastList,
): Plan<{ items: Stored[]; isTruncated: boolean }> {
  const changed = entries.filter((each): each is ChangedResource => !("text" in each));
  const texts: ChangedTexts[] = [];
  const items: Stored[] = [];
  let bytes = 0;
  let used = 0;
  for (const entry of entries) {
    let item: Stored;
    if ("text" in entry) item = entry;
    else {
      if (used === texts.length) {
        texts.push(...(yield* history.texts(changed, used, false)));
      }
      const text = textThen(entry, texts[used] as ChangedTexts);
      delete texts[used++]; // they can be long
      item = { id: entry.id, version: entry.version - 1, text, updatedAt: at };
    }
    bytes += Buffer.byteLength(item.text);
    if (items.length > 0 && bytes > maxPageBytes) return { items, isTruncated: true };
    items.push(item);
  }
  return { items, isTruncated: false };
}
