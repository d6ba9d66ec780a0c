/** Rules that make lists slow. */
import type { Access } from "../../access/access.ts";
import type { Collection } from "../../collection/collection.ts";
import { formatPath, isIdPath } from "../../collection/paths.ts";
import type { Filter } from "../../query/filter.ts";

/** The attributes that rules narrow a collection's lists by and that no index of it begins with, though one could. */
export function slowIn(access: Access, { name, indexes }: Collection): readonly string[] {
  const first = new Set(indexes.flatMap(([key]) => (key === undefined ? [] : [formatPath(key.path)])));
  const slow = access.listFilters(name).flatMap((filter) => slowBy(filter, first) ?? []);
  return [...new Set(slow)];
}

/** The attributes of which an index is missing; `undefined` where one more would be of no use. */
function slowBy(filter: Filter, first: ReadonlySet<string>): readonly string[] | undefined {
  switch (filter.kind) {
    case "and": {
      const all = filter.filters.map((each) => slowBy(each, first)).filter((each) => each !== undefined);
      return all.toSorted((a, b) => a.length - b.length)[0]; // any of them leaves little enough
    }
    case "or": {
      const all = filter.filters.map((each) => slowBy(each, first));
      return all.includes(undefined) ? undefined : all.flatMap((each) => each ?? []);
    }
    case "in":
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const name = formatPath(filter.path);
      return isIdPath(filter.path) || first.has(name) ? [] : [name];
    }
    default:
      return undefined;
  }
}
