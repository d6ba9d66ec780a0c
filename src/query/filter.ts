/**
 * Filters: a tree of conditions, independent of its syntax in a request, and its evaluation in memory.
 *
 * Every store translates the tree to its own language. Each must give the same result as `matches` for every resource. A
 * condition is true or false, never unknown.
 */
import { comparedKeyOf, type Meaning } from "../collection/compared-keys.ts";
import { foldText } from "../collection/folding.ts";
import { isIdPath, itemName, type Path, valueAt } from "../collection/paths.ts";
import type { Relation } from "../collection/relations.ts";
import { compareCodePoints, lowerAscii } from "../collection/text-comparison.ts";
import { isObject } from "../json/values.ts";

/** A value that an attribute is compared with. */
export type Scalar = string | number | boolean | null;

/** A tree of conditions. An empty `and` matches every resource, and an empty `or` matches none. */
export type Tree<Leaf> =
  | { kind: "and" | "or"; filters: readonly Tree<Leaf>[] }
  | { kind: "not"; filter: Tree<Leaf> }
  | Leaf;

/** A filter by the attributes of the resource itself. */
export type Filter = Tree<Condition>;

/** The part of a relation that filters and stores need. */
export type RelationPath = Pick<Relation, "kind" | "collection" | "path">;

/**
 * A filter as a request contains it. A condition about related resources is true if one of them matches. It does not
 * yet say which of them the caller can list.
 */
export type RequestedFilter = Tree<Condition | RequestedRelated>;

/** The condition of a request about related resources. */
export interface RequestedRelated {
  kind: "requestedRelated";
  relation: RelationPath;
  filter: RequestedFilter;
}

/** A filter that a store evaluates. `matches` cannot, because related resources are not in memory. */
export type StoreFilter = Tree<Condition | RelatedCondition>;

/** A condition that is true if at least one related resource matches `filter`. */
export interface RelatedCondition {
  kind: "related";
  relation: RelationPath;
  filter: StoreFilter;
}

/** A part of conditions that compare values by what they mean. */
interface Meanings {
  /** The values are keys, and the attribute (or the item of the array) counts as the key of the instant or number that it means. */
  as?: Meaning;
  /** What the client wrote, if a value depends on the time of the request. */
  relative?: string;
}

/**
 * One condition about an attribute. Only `exists: false` matches if the attribute is absent. With `as`, only
 * what means an instant or an exact number matches.
 */
export type Condition =
  /** The attribute equals one of the values, with the same type. Arrays and objects never match. */
  | ({ kind: "in"; path: Path; values: readonly Scalar[] } & Meanings)
  /** The attribute compares in this way with one of the values of its type. Strings are compared by code point. */
  | ({ kind: "gt" | "gte" | "lt" | "lte"; path: Path; values: readonly (string | number)[] } & Meanings)
  /** The attribute is a string that contains one of the values, ignoring ASCII case, or an array with an equal item. */
  | ({ kind: "contains"; path: Path; values: readonly Scalar[] } & Meanings)
  /** The attribute is a string that starts or ends with one of the values, ignoring ASCII case. */
  | { kind: "startsWith" | "endsWith"; path: Path; values: readonly string[] }
  /**
   * The folded attribute (`foldText`) equals, contains or starts with one of the values, which are folded. `containsi`: or it is an
   * array with an item that equals a value when it is folded.
   */
  | { kind: FoldedKind; path: Path; values: readonly string[] }
  /** The attribute is an array with an object that matches the filter. Its paths start with `itemName`. */
  | { kind: "any"; path: Path; filter: Filter }
  /** The attribute exists, even if it is null; or it does not exist. */
  | { kind: "exists"; path: Path; value: boolean };

/** The kinds of condition that compare folded texts. */
export type FoldedKind = "ini" | "containsi" | "startsWithi";

/** The kinds of condition. */
export type ConditionKind = Condition["kind"];

/** A filter that matches if all of these match. */
export function allOf<Leaf extends { kind: string }>(filters: readonly Tree<Leaf>[]): Tree<Leaf> {
  const needed = filters.filter((each) => !matchesAll(each));
  const [first, ...others] = needed;
  return first !== undefined && others.length === 0 ? first : { kind: "and", filters: needed };
}

/** Whether a filter matches every resource, because it has no condition that can be false. */
export function matchesAll(filter: Tree<{ kind: string }>): boolean {
  if ("filters" in filter)
    return filter.kind === "and" ? filter.filters.every(matchesAll) : filter.filters.some(matchesAll);
  if (filter.kind === "not" && "filter" in filter) return matchesNone(filter.filter);
  return isAboutIdExisting(filter) && filter.value;
}

/** Whether a filter asks if the id exists. Every resource has one. */
function isAboutIdExisting(filter: Tree<{ kind: string }>): filter is Condition & { kind: "exists" } {
  const condition = filter as Condition;
  return condition.kind === "exists" && isIdPath(condition.path);
}

/** Whether a filter matches no resource, because it has no condition that can be true. */
function matchesNone(filter: Tree<{ kind: string }>): boolean {
  if ("filters" in filter)
    return filter.kind === "or" ? filter.filters.every(matchesNone) : filter.filters.some(matchesNone);
  if ("filter" in filter) {
    const inner = filter.filter as Tree<{ kind: string }>;
    return filter.kind === "not" ? matchesAll(inner) : matchesNone(inner); // or about related resources
  }
  if (isAboutIdExisting(filter)) return !filter.value;
  return "values" in filter && Array.isArray(filter.values) && filter.values.length === 0;
}

/** A filter that matches if any of these matches. */
export function anyOf<Leaf extends { kind: string }>(filters: readonly Tree<Leaf>[]): Tree<Leaf> {
  if (filters.some(matchesAll)) return { kind: "and", filters: [] };
  const [first, ...others] = filters;
  return first !== undefined && others.length === 0 ? first : { kind: "or", filters };
}

/** Matches no resource. Also the result of reading an invalid filter, whose request is refused. */
export const matchNone = { kind: "or", filters: [] } as const satisfies Filter;

/** The leaves of a filter. */
export function leavesOf<Leaf extends { kind: string }>(filter: Tree<Leaf>): readonly Leaf[] {
  if ("filters" in filter) return filter.filters.flatMap((each) => leavesOf(each));
  return filter.kind === "not" ? leavesOf((filter as { filter: Tree<Leaf> }).filter) : [filter as Leaf];
}

/** A filter with each leaf replaced. */
export function mapLeaves<From extends { kind: string }, To>(
  filter: Tree<From>,
  change: (leaf: From) => Tree<To>,
): Tree<To> {
  if ("filters" in filter)
    return { kind: filter.kind, filters: filter.filters.map((each) => mapLeaves(each, change)) };
  if (filter.kind !== "not") return change(filter as From);
  return { kind: "not", filter: mapLeaves((filter as { filter: Tree<From> }).filter, change) };
}

/** Whether a filter has a condition about related resources. */
export function namesRelated(filter: RequestedFilter | StoreFilter | undefined): boolean {
  return (
    filter !== undefined &&
    leavesOf<{ kind: string }>(filter).some(({ kind }) => kind === "related" || kind === "requestedRelated")
  );
}

/** Whether a filter compares with the time of the request: the same filter finds something else later. */
export function isRelative(filter: RequestedFilter | StoreFilter | undefined): boolean {
  return (
    filter !== undefined &&
    leavesOf<Condition | RequestedRelated | RelatedCondition>(filter).some((leaf) =>
      "filter" in leaf ? isRelative(leaf.filter) : "relative" in leaf,
    )
  );
}

/** The JSON text of a value with filters in it. It does not change while time passes. */
export function timelessText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isObject(each) && Object.hasOwn(each, "relative") ? { ...each, values: [] } : each,
  );
}

/** A filter that has no conditions about related resources. Throws an Error if it has one. */
export function ownFilter(filter: RequestedFilter): Filter {
  if (namesRelated(filter)) throw new Error("The filter must not be about related resources.");
  return filter as Filter;
}

/** Whether the filter matches a resource (with its `id`). */
export function matches(filter: Filter, resource: Record<string, unknown>): boolean {
  switch (filter.kind) {
    case "and":
      return filter.filters.every((each) => matches(each, resource));
    case "or":
      return filter.filters.some((each) => matches(each, resource));
    case "not":
      return !matches(filter.filter, resource);
    default:
      return isTrue(filter, comparedAt(resource, filter));
  }
}

/** What a condition compares: the value of its attribute, or the key of what the value means. */
function comparedAt(resource: Record<string, unknown>, condition: Condition): unknown {
  const value = valueAt(resource, condition.path);
  if (!("as" in condition) || condition.as === undefined) return value;
  const { kind, as } = condition;
  if (kind !== "contains") return comparedKeyOf(value, as);
  return Array.isArray(value) ? value.map((item) => comparedKeyOf(item, as)) : undefined;
}

function isTrue(condition: Condition, value: unknown): boolean {
  switch (condition.kind) {
    case "in":
      return condition.values.some((each) => each === value);
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const isExpected = comparisons[condition.kind];
      return condition.values.some((each) => {
        const order = compareLike(value, each);
        return order !== undefined && isExpected(order);
      });
    }
    case "contains":
      if (Array.isArray(value)) return condition.values.some((each) => value.includes(each));
      return hasText(value, condition.values, "includes");
    case "startsWith":
    case "endsWith":
      return hasText(value, condition.values, condition.kind);
    case "ini":
    case "startsWithi":
    case "containsi":
      return hasFolded(condition.kind, value, condition.values);
    case "any":
      if (!Array.isArray(value)) return false;
      return value.some((item) => isObject(item) && matches(condition.filter, { [itemName]: item }));
    case "exists":
      return (value !== undefined) === condition.value;
  }
}

const comparisons = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
} as const satisfies Partial<Record<ConditionKind, (order: number) => boolean>>;

/** The order of two values; `undefined` if they have different types. */
function compareLike(a: unknown, b: string | number): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : Number(a > b);
  return typeof a === "string" && typeof b === "string" ? compareCodePoints(a, b) : undefined;
}

function hasFolded(kind: FoldedKind, value: unknown, parts: readonly string[]): boolean {
  if (Array.isArray(value))
    return kind === "containsi" && value.some((item) => hasFolded("ini", item, parts));
  if (typeof value !== "string") return false;
  const text = foldText(value);
  if (kind === "ini") return parts.includes(text);
  return parts.some((part) => (kind === "containsi" ? text.includes(part) : text.startsWith(part)));
}

function hasText(
  value: unknown,
  parts: readonly unknown[],
  where: "includes" | "startsWith" | "endsWith",
): boolean {
  if (typeof value !== "string") return false;
  const text = lowerAscii(value);
  return parts.some((part) => typeof part === "string" && text[where](lowerAscii(part)));
}
