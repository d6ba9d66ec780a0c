/** The related resources that a filter looks at, so that it can be evaluated in memory. */
import {
  leavesOf,
  ownPathsOf,
  type RelatedCondition,
  referencedId,
  relatedIn,
  type StoreFilter,
  type TargetOf,
} from "./filter.ts";

/** The resources that references name, by `collection/id`. `undefined`: it does not exist. */
export type Targets = ReadonlyMap<string, Record<string, unknown> | undefined>;

/** A resource that a filter looks at. */
export interface Target {
  collection: string;
  id: string;
}

/** The name of a resource in `Targets`. */
export function nameOfTarget({ collection, id }: Target): string {
  return `${collection}/${id}`;
}

/** The resource with a name in `Targets`. */
export function targetNamed(name: string): Target {
  const slash = name.indexOf("/");
  return { collection: name.slice(0, slash), id: name.slice(slash + 1) };
}

/** Finds resources in `targets`. Throws an Error for one that was not read. */
export function targetIn(targets: Targets): TargetOf {
  return (collection, id) => {
    const name = nameOfTarget({ collection, id });
    if (!targets.has(name)) throw new Error(`The related resource ${name} was not read.`);
    return targets.get(name);
  };
}

/**
 * The resources that a filter looks at next for a resource, without those that are known. Call it again when these are known: they
 * can refer to others. The result is empty when all are known.
 */
export function nextTargets(
  filter: StoreFilter,
  resource: Record<string, unknown>,
  known: Targets,
): readonly Target[] {
  const found = new Map<string, Target>();
  addNext(filter, resource, { known, found });
  return [...found.values()];
}

interface Search {
  known: Targets;
  found: Map<string, Target>;
}

function addNext(filter: StoreFilter, resource: Record<string, unknown>, search: Search): void {
  for (const leaf of leavesOf(filter)) {
    if (leaf.kind === "related") addThrough([leaf], resource, search);
    if (leaf.kind !== "compares") continue;
    for (const { through = [] } of [leaf.left, leaf.right]) addThrough(through, resource, search);
  }
}

function addThrough(
  [first, ...others]: readonly RelatedCondition[],
  resource: Record<string, unknown>,
  search: Search,
): void {
  if (first === undefined) return;
  const { collection } = first.relation;
  const id = referencedId(first.relation, resource);
  if (id === undefined) return;
  const name = nameOfTarget({ collection, id });
  if (!search.known.has(name)) search.found.set(name, { collection, id });
  const target = search.known.get(name);
  if (target === undefined) return;
  addNext(first.filter, target, search);
  addThrough(others, target, search);
}

/** The names of the collections that a filter leads to. */
export function collectionsIn(filter: StoreFilter): string[] {
  return leavesOf(filter).flatMap((leaf) =>
    relatedIn(leaf).flatMap((each) => [each.relation.collection, ...collectionsIn(each.filter)]),
  );
}

/** The part of a resource that a filter looks at. */
export function lookedAt(filter: StoreFilter, resource: Record<string, unknown>): Record<string, unknown> {
  const names = new Set<string>(leavesOf(filter).flatMap((leaf) => ownPathsOf(leaf).map(([name]) => name)));
  return Object.fromEntries(
    [...names].flatMap((name) => (Object.hasOwn(resource, name) ? [[name, resource[name]]] : [])),
  );
}
