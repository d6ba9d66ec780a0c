/** The conditions of a filter, by what an index can do for them. */
import type { SortKey } from "../collection/indexes.ts";
import { formatPath, isIdPath, type Path } from "../collection/paths.ts";
import type { Condition, Filter } from "../query/filter.ts";
import { sortedCodePoints } from "../query/sort.ts";

/** The conditions that must all hold. */
export function conjunctsOf(filter: Filter | undefined): readonly Filter[] {
  if (filter === undefined) return [];
  return filter.kind === "and" ? filter.filters.flatMap(conjunctsOf) : [filter];
}

/** A condition that names the ids that are wanted. */
export function namesIds(condition: Filter): boolean {
  return condition.kind === "in" && isIdPath(condition.path);
}

/** A condition that leaves one value, and one that the column of an index holds whole. */
export function isEquality(condition: Filter): condition is Condition & { kind: "in"; path: Path } {
  if (condition.kind !== "in" || condition.values.length !== 1 || isIdPath(condition.path)) return false;
  const [value] = condition.values;
  return value !== null && isWhole(value);
}

/** A condition that an index serves from one end to the other. */
export function isRange(condition: Filter): condition is Condition & { kind: "gt" | "gte" | "lt" | "lte" } {
  if (
    condition.kind !== "gt" &&
    condition.kind !== "gte" &&
    condition.kind !== "lt" &&
    condition.kind !== "lte"
  )
    return false;
  return condition.values.length === 1 && !isIdPath(condition.path) && isWhole(condition.values[0]);
}

/** The attribute of which an index would give too much: it begins and ends at one condition of a kind, and leaves out by the others. */
export function repeatedIn(conditions: readonly Filter[]): string | undefined {
  const seen = new Map<string, unknown>();
  for (const condition of conditions) {
    if (!isEquality(condition) && !isRange(condition)) continue;
    const name = formatPath(condition.path);
    const end = `${condition.kind.slice(0, 1)} ${name}`;
    const type = isRange(condition) ? typeof condition.values[0] : "any";
    if (seen.has(end) || (isRange(condition) && (seen.get(name) ?? type) !== type)) return name;
    seen.set(end, type);
    if (isRange(condition)) seen.set(name, type);
  }
  return undefined;
}

/** Whether an index serves the condition whose first attribute after the equal ones is `ranged`. */
export function isServed(condition: Filter, ranged: string | undefined): boolean {
  return isEquality(condition) || (isRange(condition) && formatPath(condition.path) === ranged);
}

/** After the id, nothing is left to sort. An index ends with ascending ids; the ids alone serve both directions. */
export function neededKeys(sort: readonly SortKey[]): readonly SortKey[] {
  const id = sort.findIndex(({ path }) => isIdPath(path));
  if (id === -1) return sort;
  return sort.slice(0, id > 0 && sort[id]?.descending === true ? id + 1 : id);
}

function isWhole(value: unknown): boolean {
  return typeof value !== "string" || value.length < sortedCodePoints;
}
