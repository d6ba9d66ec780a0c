/**
 * Filters: a tree of conditions, independent of its syntax in a request, and its evaluation in memory.
 *
 * Every store translates the tree to its own language. Each must give the same result as `matches` for every resource. A
 * condition is true or false, never unknown.
 */

import { isIdPath, type Path, valueAt } from "../collection/paths.ts";
import type { Relation } from "../collection/relations.ts";
import { comparedKeyOf, type Meaning } from "../collection/types/declared-types.ts";
import { isObject } from "../json/values.ts";
import { type Condition, compareLike, conditionTable, orders, rowOf } from "./conditions.ts";

/** A tree of conditions. An empty `and` matches every resource, and an empty `or` matches none. */
export type Tree<Leaf> =
  | { kind: "and" | "or"; filters: readonly Tree<Leaf>[] }
  | { kind: "not"; filter: Tree<Leaf> }
  | Leaf;

/** A filter by the attributes of the resource itself. */
export type Filter = Tree<OwnLeaf>;

/** A leaf of a filter by the attributes of the resource itself. */
export type OwnLeaf = Condition | OwnComparison;

/** The part of a relation that filters and stores need. */
export type RelationPath = Pick<Relation, "kind" | "collection" | "path">;

/**
 * A filter as a request contains it. A condition about related resources is true if one of them matches. It does not
 * yet say which of them the caller can list.
 */
export type RequestedFilter = Tree<RequestedLeaf>;

/** A leaf of a filter of a request. */
export type RequestedLeaf = Condition | RequestedRelated | RequestedComparison;

/** The condition of a request about related resources. */
export interface RequestedRelated {
  kind: "requestedRelated";
  relation: RelationPath;
  filter: RequestedFilter;
}

/** A filter that a store evaluates. `matches` can only do it with the related resources that it looks at (`Targets`). */
export type StoreFilter = Tree<StoreLeaf>;

/** A leaf of a filter that a store evaluates. */
export type StoreLeaf = Condition | RelatedCondition | Comparison;

/** A condition that is true if at least one related resource matches `filter`. */
export interface RelatedCondition {
  kind: "related";
  relation: RelationPath;
  filter: StoreFilter;
}

/**
 * A condition that compares two attributes. It is false if one of them is missing, null, an array or an object, or if they have different
 * types. `not` asks for the opposite comparison, so it is false for these too.
 */
export interface Comparison<Through = RelatedCondition> {
  kind: "compares";
  operator: ComparingOperator;
  left: Operand<Through>;
  right: Operand<Through>;
  /** Both are compared by what they mean: as instants or as exact numbers. */
  as?: Meaning | undefined;
}

/** An attribute of the resource itself, or of the one resource that the relations `through` lead to, from the outer one inwards. */
export interface Operand<Through = RelatedCondition> {
  path: Path;
  through?: readonly Through[] | undefined;
}

/** A comparison as a request contains it. */
export type RequestedComparison = Comparison<RelationPath>;

/** A comparison of two attributes of the resource itself. */
export type OwnComparison = Comparison<never>;

/** The operators that compare two attributes, each with its opposite. */
export const opposites = { eq: "ne", ne: "eq", gt: "lte", gte: "lt", lt: "gte", lte: "gt" } as const;

/** An operator that compares two attributes. */
export type ComparingOperator = keyof typeof opposites;

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

/** Matches what a filter does not match. A comparison becomes its opposite, which is false too if a value is missing. */
export function negationOf<Leaf extends { kind: string }>(filter: Tree<Leaf>): Tree<Leaf> {
  if (!leavesOf<{ kind: string }>(filter).some(({ kind }) => kind === "compares"))
    return { kind: "not", filter };
  if ("filters" in filter)
    return {
      kind: filter.kind === "and" ? "or" : "and",
      filters: filter.filters.map((each) => negationOf(each)),
    };
  if (filter.kind === "not") return (filter as { filter: Tree<Leaf> }).filter;
  const comparison = filter as unknown as Comparison;
  return { ...comparison, operator: opposites[comparison.operator] } as unknown as Tree<Leaf>;
}

/** The attributes of the resource itself that a leaf of a filter looks at. */
export function ownPathsOf(leaf: RequestedLeaf | StoreLeaf): readonly Path[] {
  switch (leaf.kind) {
    case "related":
    case "requestedRelated":
      return leaf.relation.kind === "reference" ? [leaf.relation.path] : [];
    case "compares":
      return [leaf.left, leaf.right].map(({ path, through: [first] = [] }) =>
        first === undefined ? path : "relation" in first ? first.relation.path : first.path,
      );
    default:
      return [leaf.path];
  }
}

/** The conditions about related resources in a leaf of a filter. */
export function relatedIn(leaf: StoreLeaf): readonly RelatedCondition[] {
  if (leaf.kind === "related") return [leaf];
  return leaf.kind === "compares" ? [leaf.left, leaf.right].flatMap(({ through = [] }) => through) : [];
}

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
    leavesOf<RequestedLeaf | StoreLeaf>(filter).some((leaf) =>
      leaf.kind === "compares"
        ? leaf.left.through !== undefined || leaf.right.through !== undefined
        : leaf.kind === "related" || leaf.kind === "requestedRelated",
    )
  );
}

/** Whether a filter compares with the time of the request: the same filter finds something else later. */
export function isRelative(filter: RequestedFilter | StoreFilter | undefined): boolean {
  return (
    filter !== undefined &&
    leavesOf<RequestedLeaf | StoreLeaf>(filter).some((leaf) =>
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

/** The resource with this id; `undefined` if it does not exist. */
export type TargetOf = (collection: string, id: string) => Record<string, unknown> | undefined;

/**
 * Whether the filter matches a resource (with its `id`). `targetOf` finds the resources that its references name. Throws an Error for any
 * other condition about related resources.
 */
export function matches(
  filter: StoreFilter,
  resource: Record<string, unknown>,
  targetOf?: TargetOf,
): boolean {
  switch (filter.kind) {
    case "and":
      return filter.filters.every((each) => matches(each, resource, targetOf));
    case "or":
      return filter.filters.some((each) => matches(each, resource, targetOf));
    case "not":
      return !matches(filter.filter, resource, targetOf);
    case "related":
      return throughReference(filter, resource, targetOf) !== undefined;
    case "compares":
      return compares(filter, resource, targetOf);
    default:
      return rowOf(filter).isTrue(filter, comparedAt(resource, filter), matches);
  }
}

/** The resource that a reference names, if it matches. */
function throughReference(
  { relation, filter }: RelatedCondition,
  resource: Record<string, unknown>,
  targetOf: TargetOf = () => {
    throw new Error("The related resources are not in memory.");
  },
): Record<string, unknown> | undefined {
  const id = referencedId(relation, resource);
  const target = id === undefined ? undefined : targetOf(relation.collection, id);
  return target !== undefined && matches(filter, target, targetOf) ? target : undefined;
}

/** The one id in a reference of a resource. Throws an Error for any other relation. */
export function referencedId(
  { kind, path }: RelationPath,
  resource: Record<string, unknown>,
): string | undefined {
  if (kind !== "reference") throw new Error("Only references lead to one resource.");
  const value = valueAt(resource, path);
  return typeof value === "string" || Number.isSafeInteger(value) ? String(value) : undefined;
}

function compares(
  { operator, left, right, as }: Comparison,
  resource: Record<string, unknown>,
  targetOf: TargetOf | undefined,
): boolean {
  const [a, b] = [left, right].map(({ path, through = [] }) => {
    let holder: Record<string, unknown> | undefined = resource;
    for (const each of through) holder &&= throughReference(each, holder, targetOf);
    const value = holder && valueAt(holder, path);
    return as === undefined ? value : comparedKeyOf(value, as);
  });
  if (typeof a === "boolean" && typeof b === "boolean")
    return operator === "eq" ? a === b : operator === "ne" && a !== b;
  const order = typeof b === "string" || typeof b === "number" ? compareLike(a, b) : undefined;
  if (order === undefined) return false;
  if (operator === "eq") return order === 0;
  return operator === "ne" ? order !== 0 : orders[operator](order);
}

/** What a condition compares: the value of its attribute, or the key of what the value means. */
function comparedAt(resource: Record<string, unknown>, condition: Condition): unknown {
  const value = valueAt(resource, condition.path);
  if (!("as" in condition) || condition.as === undefined) return value;
  const { kind, as } = condition;
  if (conditionTable[kind].compares === "value") return comparedKeyOf(value, as);
  return Array.isArray(value) ? value.map((item) => comparedKeyOf(item, as)) : undefined;
}
