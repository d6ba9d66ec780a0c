/** A reading of everything in memory: which resources are related, and which filters through relations match. */
import { valueAt } from "../src/collection/paths.ts";
import type { Relation } from "../src/collection/relations.ts";
import { matches, type StoreFilter } from "../src/query/filter.ts";

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
      return relatedTo(world, resource, filter.relation).some((each) => matches(filter.filter, each));
    default:
      return matches(filter, resource);
  }
}
