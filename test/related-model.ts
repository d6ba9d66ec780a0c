/** A reading of everything in memory: which resources are related, and which filters through relations match. */
import type { SortKey } from "../src/collection/indexes.ts";
import { valueAt } from "../src/collection/paths.ts";
import type { Relation } from "../src/collection/relations.ts";
import { matches, type StoreFilter } from "../src/query/filter.ts";
import { type Compare, compareBy, type StoreSortKey } from "../src/query/sort.ts";

export type Resource = Record<string, unknown>;

/** All resources by collection. */
export type World = Readonly<Record<string, readonly Resource[]>>;

/** The ids in a reference, in their order. */
export function idsIn(resource: Resource, path: readonly string[]): string[] {
  const value = valueAt(resource, path);
  return (Array.isArray(value) ? value : [value])
    .filter((each) => typeof each === "string" || typeof each === "number")
    .map(String);
}

/** The related resources: of a reference in the order of the ids, and otherwise in no order. */
export function relatedTo(
  world: World,
  resource: Resource,
  { kind, collection, path }: Pick<Relation, "kind" | "collection" | "path">,
): readonly Resource[] {
  const others = world[collection] ?? [];
  if (kind === "inverse") return others.filter((each) => idsIn(each, path).includes(String(resource.id)));
  return idsIn(resource, path).flatMap((id) => others.filter((each) => String(each.id) === id));
}

/** The values of keys. A related resource that does not match its condition counts as absent. */
export function valuesInWorld(
  world: World,
  resource: Resource,
  keys: readonly Pick<StoreSortKey, "path" | "through">[],
): unknown[] {
  return keys.map(({ path, through }) => {
    if (through === undefined) return valueAt(resource, path);
    const [related] = relatedTo(world, resource, through.relation);
    const isListed = related !== undefined && matchesInWorld(world, through.filter, related);
    return isListed ? valueAt(related, path) : undefined;
  });
}

/** As `compareBy`, with keys of related resources. */
export function compareInWorld(world: World, sort: readonly StoreSortKey[]): Compare {
  // The values of the keys as attributes of one resource.
  const keys = sort.map(({ through: _, ...key }, n): SortKey => ({ ...key, path: ["values", String(n)] }));
  const compare = compareBy(keys);
  return (a, b) =>
    compare(
      { id: a.id, values: { ...valuesInWorld(world, a, sort) } },
      { id: b.id, values: { ...valuesInWorld(world, b, sort) } },
    );
}

/** As `matches`, with conditions about related resources. */
export function matchesInWorld(world: World, filter: StoreFilter, resource: Resource): boolean {
  switch (filter.kind) {
    case "and":
      return filter.filters.every((each) => matchesInWorld(world, each, resource));
    case "or":
      return filter.filters.some((each) => matchesInWorld(world, each, resource));
    case "not":
      return !matchesInWorld(world, filter.filter, resource);
    case "related":
      return relatedTo(world, resource, filter.relation).some((each) =>
        matchesInWorld(world, filter.filter, each),
      );
    default:
      return matches(filter, resource);
  }
}
