/** A store that refuses lists and figures by attributes that stored resources still lack. They would leave out resources without a sign. */
import type { Collection } from "../../../collection/collection.ts";
import type { Path } from "../../../collection/paths.ts";
import { Problem } from "../../../errors.ts";
import {
  leavesOf,
  type Operand,
  ownPathsOf,
  type RelatedCondition,
  type StoreFilter,
} from "../../../query/filter.ts";
import type { FiguresQuery, ListQuery, ReferringQuery } from "../../../store/port/page.ts";
import { type ServingStore, withMethods } from "../../../store/port/store.ts";
import type { Incomplete } from "./incomplete.ts";

/** An attribute of a collection. */
interface Named {
  collection: string;
  name: string;
}

/** The same store, whose lists and figures throw UNAVAILABLE if they name a new attribute that is not complete. */
export function completeStore<S extends ServingStore>(
  store: S,
  incomplete: Incomplete,
  searched: (collection: string) => Collection["search"],
): S {
  const checked = async <Result>(named: () => readonly Named[], read: () => Promise<Result>) => {
    if (incomplete.names.size > 0) await requireComplete(named(), incomplete);
    return read();
  };
  const methods: Pick<ServingStore, "list" | "figures" | "referring"> = {
    list: (query) =>
      checked(
        () => namedInList(query, searched(query.collection)),
        () => store.list(query),
      ),
    figures: (query) =>
      checked(
        () => namedInFigures(query, searched(query.collection)),
        () => store.figures(query),
      ),
    referring: (query) =>
      checked(
        () => namedInReferring(query),
        () => store.referring(query),
      ),
  };
  return withMethods(store, methods as Partial<S>);
}

async function requireComplete(named: readonly Named[], incomplete: Incomplete): Promise<void> {
  for (const collection of new Set(named.map((each) => each.collection))) {
    if (!incomplete.names.has(collection)) continue;
    const missing = await incomplete.newIn(collection);
    const found = named.find((each) => each.collection === collection && missing.includes(each.name));
    if (found === undefined) continue;
    throw new Problem(
      "UNAVAILABLE",
      `The attribute "${found.name}" of ${collection} is not computed for all resources yet. Try again.`,
    );
  }
}

function namedInList(
  { collection, filter, visibleFilter, sort = [], words }: ListQuery,
  search: readonly Path[],
): Named[] {
  return [
    ...[filter, visibleFilter].flatMap((each) => (each === undefined ? [] : namedIn(collection, each))),
    ...sort.flatMap((key) => namedByKey(collection, key)),
    ...(words === undefined ? [] : own(collection, search)),
  ];
}

function namedInFigures(query: FiguresQuery, search: readonly Path[]): Named[] {
  const { collection, figures, group } = query;
  return [
    ...namedInList({ ...query, sort: [] }, search),
    ...group.flatMap((key) => namedByKey(collection, key)),
    ...figures.flatMap((figure) => ("path" in figure ? own(collection, [figure.path]) : [])),
  ];
}

function namedInReferring({ collection, filter, sort = [] }: ReferringQuery): Named[] {
  return [
    ...(filter === undefined ? [] : namedIn(collection, filter)),
    ...sort.flatMap((key) => namedByKey(collection, key)),
  ];
}

/** The attributes that a filter looks at, also those of related resources. */
export function namedIn(collection: string, filter: StoreFilter): Named[] {
  return leavesOf(filter).flatMap((leaf) => {
    if (leaf.kind === "related") return namedThrough(collection, [leaf]);
    if (leaf.kind === "compares")
      return [leaf.left, leaf.right].flatMap((operand) => namedByOperand(collection, operand));
    return own(collection, ownPathsOf(leaf));
  });
}

function namedByOperand(collection: string, { path, through = [] }: Operand): Named[] {
  const last = through.at(-1)?.relation.collection ?? collection;
  return [...namedThrough(collection, through), ...own(last, [path])];
}

function namedByKey(
  collection: string,
  key: { path: Path; through?: RelatedCondition | undefined },
): Named[] {
  return namedByOperand(collection, { path: key.path, through: key.through && [key.through] });
}

function namedThrough(collection: string, [first, ...others]: readonly RelatedCondition[]): Named[] {
  if (first === undefined) return [];
  const { kind, path, collection: target } = first.relation;
  return [
    ...own(kind === "reference" ? collection : target, [path]),
    ...namedIn(target, first.filter),
    ...namedThrough(target, others),
  ];
}

function own(collection: string, paths: readonly Path[]): Named[] {
  return paths.map(([name]) => ({ collection, name }));
}
