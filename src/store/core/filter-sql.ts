/**
 * The translation of filters to SQL that all stores share. The expression is true for exactly the resources that `matches`
 * accepts. For other resources it is false or null, and `not` must treat null as false. Each store has its own `Dialect`.
 */
import type { InstantForm } from "../../collection/instants.ts";
import { isIdPath, type Path } from "../../collection/paths.ts";
import { lowerAscii } from "../../collection/text.ts";
import type { Condition, RelatedCondition, Scalar, StoreFilter } from "../../query/filter.ts";

/** A condition that SQL expresses with one of its comparison operators. */
export type Comparison = Condition & { kind: keyof typeof comparisons };

/** How a store writes conditions in SQL. It adds their values to the scope. */
export interface Dialect<Scope> {
  /** The attribute equals one of the values; there is at least one. */
  equals(path: Path, values: readonly Scalar[], scope: Scope): string;
  /** The id equals one of the values. */
  idEquals(values: readonly Scalar[], scope: Scope): string;
  compare(condition: Comparison, value: string | number, scope: Scope): string;
  idCompare(kind: Comparison["kind"], value: string | number, scope: Scope): string;
  /** The key of the instant that the attribute means; null if it means none. */
  instantKey(path: Path, form: InstantForm): string;
  /** The attribute is an array with an item that means one of the instants. */
  hasInstant(path: Path, keys: readonly string[], form: InstantForm, scope: Scope): string;
  /** A text equals one of the texts, or compares with one of them. */
  textIs(kind: Comparison["kind"] | "in", text: string, values: readonly string[], scope: Scope): string;
  /** The string with ASCII letters in lower case. Null if the attribute, or the id, is not a string. */
  lowered(path: Path, scope: Scope): string;
  /** The lowered string contains a text. */
  includes(lowered: string, text: string, scope: Scope): string;
  /** The lowered string starts or ends with a text that is not empty. */
  hasAffix(kind: "startsWith" | "endsWith", lowered: string, text: string, scope: Scope): string;
  /** The attribute is an array with an item that equals one of the values. */
  hasItem(path: Path, values: readonly Scalar[], scope: Scope): string;
  /** Null if and only if the attribute does not exist. */
  presence(path: Path): string;
  /** A related resource matches. */
  related(condition: RelatedCondition, scope: Scope): string;
}

/** The operators of SQL. */
export const comparisons = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** A filter as an SQL expression. */
export function filterSql<Scope>(filter: StoreFilter, dialect: Dialect<Scope>, scope: Scope): string {
  switch (filter.kind) {
    case "and":
      return every(filter.filters.map((each) => filterSql(each, dialect, scope)));
    case "or":
      return either(filter.filters.map((each) => filterSql(each, dialect, scope)));
    case "not":
      return `(${filterSql(filter.filter, dialect, scope)}) is not true`;
    case "related":
      return dialect.related(filter, scope);
    default:
      return conditionSql(filter, dialect, scope);
  }
}

function conditionSql<Scope>(condition: Condition, dialect: Dialect<Scope>, scope: Scope): string {
  const { path } = condition;
  const isId = isIdPath(path);
  if ("as" in condition && condition.as !== undefined) {
    const { kind, as } = condition;
    const keys = condition.values.map(String);
    if (kind === "contains") return dialect.hasInstant(path, keys, as, scope);
    return dialect.textIs(kind, dialect.instantKey(path, as), keys, scope);
  }
  switch (condition.kind) {
    case "in":
      if (condition.values.length === 0) return "false";
      if (isId) return dialect.idEquals(condition.values, scope);
      return dialect.equals(path, condition.values, scope);
    case "contains": {
      const texts = condition.values.filter((value) => typeof value === "string").map(lowerAscii);
      const parts = texts.map((text) => dialect.includes(dialect.lowered(path, scope), text, scope));
      if (!isId && condition.values.length > 0) parts.push(dialect.hasItem(path, condition.values, scope));
      return either(parts);
    }
    case "startsWith":
    case "endsWith": {
      const { kind } = condition;
      const lowered = dialect.lowered(path, scope);
      const affixSql = (text: string) =>
        text === "" ? `${lowered} is not null` : dialect.hasAffix(kind, lowered, text, scope);
      return either(condition.values.map(lowerAscii).map(affixSql));
    }
    case "exists":
      return isId
        ? String(condition.value)
        : `${dialect.presence(path)} is ${condition.value ? "not " : ""}null`;
    default: {
      const { kind } = condition;
      const compareSql = (value: string | number) =>
        isId ? dialect.idCompare(kind, value, scope) : dialect.compare(condition, value, scope);
      return either(condition.values.map(compareSql));
    }
  }
}

/** An expression that is true if all parts are true. */
export function every(parts: readonly string[]): string {
  return parts.length === 0 ? "true" : `(${parts.join(" and ")})`;
}

/** An expression that is true if one of the parts is true. */
export function either(parts: readonly string[]): string {
  return parts.length === 0 ? "false" : `(${parts.join(" or ")})`;
}
