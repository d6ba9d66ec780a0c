/** Explains what the rules of a collection decide for a caller, in plain sentences. Only administrators may see the result. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, valueAt } from "../collection/paths.ts";
import { type Condition, rowOf } from "../query/conditions.ts";
import {
  type ComparingOperator,
  type Comparison,
  matches,
  type Operand,
  type OwnLeaf,
  type RelatedCondition,
  type RelationPath,
  referencedId,
  type StoreFilter,
  type TargetOf,
} from "../query/filter.ts";
import type { Principal } from "./principal.ts";
import type { CompiledRule, RuleAlternative } from "./rules.ts";

/** What a rule is applied to. */
export interface ExplainedCase {
  principal: Principal | undefined;
  /** The resource; `undefined`: any resource of the collection. */
  resource: Record<string, unknown> | undefined;
  /** Attributes whose values no response contains. */
  writeOnly: ReadonlySet<string>;
  /** Finds the related resources that the rules look at. */
  targetOf: TargetOf;
  /** The collection of the rules, among all declared ones. */
  collection: string;
  collections: ReadonlyMap<string, Pick<Collection, "relations">>;
  /** The relations that lead to the resource, each with a dot. @default none */
  prefix?: string;
}

/** One condition of a filter. */
export interface ExplainedCondition {
  attribute: string;
  /** The kind of condition, such as `in` or `gte`. */
  condition: Condition["kind"] | ComparingOperator;
  /** Whether the condition must not be true. */
  negated: boolean;
  /** The values to compare with. For `exists`, whether the attribute must exist. */
  values: readonly unknown[];
  /** The attribute to compare with. @default it is compared with values */
  other?: string;
  /** The value in the resource. Absent without a resource, without a value, and for a long or secret one. */
  actual?: unknown;
  /** Whether the resource meets the condition. Absent without a resource, and for a secret value. */
  isMet?: boolean;
}

/** One rule, and what it decides. */
export interface ExplainedRule {
  /** The place in the configuration; `null` for the rule of a collection without `access`. */
  at: string | null;
  /** The rule as it is declared. */
  rule: unknown;
  resources: "all" | "some" | "none";
  reason: string;
  conditions?: readonly ExplainedCondition[];
}

/** Explains each rule of an action. With a resource, `resources` says whether the rule allows this one. */
export function explainRule(
  { alternatives = [] }: CompiledRule,
  about: ExplainedCase,
): readonly ExplainedRule[] {
  return alternatives.map((each) => ({
    at: each.at ?? null,
    rule: each.declared,
    ...explainAlternative(each, about),
  }));
}

type Explanation = Omit<ExplainedRule, "at" | "rule">;

function explainAlternative(rule: RuleAlternative, about: ExplainedCase): Explanation {
  const { principal } = about;
  const { declared, role, where } = rule;
  if (typeof declared === "string") return explainNamed(declared, principal);
  if (role !== undefined && principal?.roles.includes(role) !== true)
    return { resources: "none", reason: `The caller does not have the role ${shortJson(role)}.` };
  const hasRole = role === undefined ? "" : `The caller has the role ${shortJson(role)}. `;
  if (where === undefined) return { resources: "all", reason: hasRole.trimEnd() };
  const filter = where(principal);
  if (filter === undefined)
    return { resources: "none", reason: `${hasRole}${missing(where.missing(principal), principal)}` };
  return explainFilter(filter, about, hasRole);
}

function explainNamed(name: string, principal: Principal | undefined): Explanation {
  if (name === "public") return { resources: "all", reason: "The rule allows every caller." };
  if (name === "nobody") return { resources: "none", reason: "The rule allows no caller." };
  return principal === undefined
    ? { resources: "none", reason: "The caller has no credential." }
    : { resources: "all", reason: "The caller has a valid credential." };
}

function missing(names: readonly string[], principal: Principal | undefined): string {
  if (principal === undefined) return "The caller has no credential.";
  if (names.length === 0) return "A claim of the caller has a type with which the filter cannot compare.";
  const all = names.map((name) => shortJson(name)).join(" and ");
  return `The filter compares with ${all}, and the caller does not have this value.`;
}

function explainFilter(filter: StoreFilter, about: ExplainedCase, before: string): Explanation {
  const conditions = conditionsOf(filter, about, false);
  const { resource } = about;
  if (resource === undefined) {
    const reason = `${before}The rule allows the resources that match its filter.`;
    return { resources: "some", reason, conditions: conditions.map(({ text: _, ...each }) => each) };
  }
  const isMatch = matches(filter, resource, about.targetOf);
  const texts = isMatch ? ["The resource matches the filter."] : unmet(filter, about, false);
  return {
    resources: isMatch ? "all" : "none",
    reason: `${before}${texts.join(" ")}`,
    conditions: conditions.map(({ text: _, ...each }) => each),
  };
}

/** The sentences about the conditions because of which a resource does not match; none if it matches. */
function unmet(filter: StoreFilter, about: ExplainedCase, negated: boolean): string[] {
  if (filter.kind === "not") return unmet(filter.filter, about, !negated);
  if (filter.kind === "related") {
    const inner = throughRelation(filter, about);
    return inner.resource === undefined
      ? conditionsOf(filter, about, negated).map(({ text }) => text)
      : unmet(filter.filter, inner, negated);
  }
  if (!("filters" in filter))
    return isMet(filter, about, negated) ? [] : conditionsOf(filter, about, negated).map(({ text }) => text);
  const parts = filter.filters.map((each) => unmet(each, about, negated));
  const needsAll = (filter.kind === "and") !== negated;
  return needsAll || parts.every((each) => each.length > 0) ? parts.flat() : [];
}

function isMet(
  leaf: OwnLeaf | Comparison,
  { resource = {}, targetOf }: ExplainedCase,
  negated: boolean,
): boolean {
  return matches(leaf, resource, targetOf) !== negated;
}

/** The same question about the resource that a relation leads to. Its resource is `undefined` if it does not exist. */
function throughRelation({ relation }: RelatedCondition, about: ExplainedCase): ExplainedCase {
  const { resource, targetOf, prefix = "" } = about;
  const id = resource && referencedId(relation, resource);
  return {
    ...about,
    resource: id === undefined ? undefined : targetOf(relation.collection, id),
    collection: relation.collection,
    writeOnly: new Set(), // the start refuses rules that look at write-only attributes of others
    prefix: `${prefix}${relationName(relation, about)}.`,
  };
}

function relationName({ path }: RelationPath, { collection, collections }: ExplainedCase): string {
  const relations = [...(collections.get(collection)?.relations.values() ?? [])];
  const found = relations.find(
    (each) => each.kind === "reference" && formatPath(each.path) === formatPath(path),
  );
  return found?.name ?? formatPath(path);
}

/** The name and the value of a compared attribute. */
function operandIn({ path, through = [] }: Operand, about: ExplainedCase): { name: string; value: unknown } {
  let holder = about;
  for (const each of through) holder = throughRelation(each, holder);
  const { resource, prefix = "" } = holder;
  return { name: prefix + formatPath(path), value: resource && valueAt(resource, path) };
}

type Explained = ExplainedCondition & { text: string };

function conditionsOf(filter: StoreFilter, about: ExplainedCase, negated: boolean): Explained[] {
  if (filter.kind === "not") return conditionsOf(filter.filter, about, !negated);
  if ("filters" in filter) return filter.filters.flatMap((each) => conditionsOf(each, about, negated));
  if (filter.kind === "compares") return [comparisonIn(filter, about, negated)];
  const { resource, writeOnly, prefix = "" } = about;
  if (filter.kind === "related") {
    const inner = throughRelation(filter, about);
    if (resource === undefined || inner.resource !== undefined)
      return conditionsOf(filter.filter, inner, negated);
    const attribute = (inner.prefix ?? "").slice(0, -1);
    const text = `${shortJson(attribute)} must lead to a resource, but it does not.`;
    return [{ attribute, condition: "exists", negated: false, values: [true], isMet: false, text }];
  }
  const attribute = prefix + formatPath(filter.path);
  const values = filter.kind === "exists" ? [filter.value] : filter.kind === "any" ? [] : filter.values;
  const shown = { attribute, condition: filter.kind, negated, values };
  const needs = `${shortJson(attribute)} must ${negated ? "not " : ""}${rowOf(filter).words(filter)}`;
  if (resource === undefined) return [{ ...shown, text: `${needs}.` }];
  if (writeOnly.has(filter.path[0]))
    return [
      { ...shown, text: `A condition about ${shortJson(attribute)} is not met, whose value is secret.` },
    ];
  const actual = valueAt(resource, filter.path);
  return [
    {
      ...shown,
      ...(isShort(actual) && { actual }),
      isMet: isMet(filter, about, negated),
      text:
        actual === undefined
          ? `${needs}, but it does not exist.`
          : `${needs}, but it is ${shortJson(actual)}.`,
    },
  ];
}

function comparisonIn(comparison: Comparison, about: ExplainedCase, negated: boolean): Explained {
  const left = operandIn(comparison.left, about);
  const right = operandIn(comparison.right, about);
  const { operator } = comparison;
  const shown = { attribute: left.name, condition: operator, negated, values: [], other: right.name };
  const needs = `${shortJson(left.name)} must ${negated ? "not " : ""}${orders[operator]} ${shortJson(right.name)}`;
  if (about.resource === undefined) return { ...shown, text: `${needs}.` };
  const valueText = (value: unknown) => (value === undefined ? "missing" : shortJson(value));
  return {
    ...shown,
    ...(isShort(left.value) && { actual: left.value }),
    isMet: isMet(comparison, about, negated),
    text: `${needs}, but they are ${valueText(left.value)} and ${valueText(right.value)}.`,
  };
}

const orders = {
  eq: "equal",
  ne: "differ from",
  gt: "be greater than",
  gte: "be at least",
  lt: "be less than",
  lte: "be at most",
} as const satisfies Record<ComparingOperator, string>;

const maxShownLength = 200;

function isShort(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).length <= maxShownLength;
}
