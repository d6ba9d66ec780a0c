/** Filters on the id. A number matches only integer ids. A string never matches an integer id. */
import type { IdKind } from "../../../collection/ids.ts";
import type { Condition } from "../../../query/filter.ts";
import { either } from "../../filter-sql.ts";
import { integerKey, isKeepable, textMark } from "../tables/id-keys.ts";
import { bind, type Scope } from "./parameters.ts";

/** The condition that the id is one of the values. */
export function idInSql({ values }: Condition & { kind: "in" }, scope: Scope): string {
  const keys = values.flatMap((value) => {
    if (typeof value === "string") return isKeepable(value) ? [textKey(scope.idKind, value)] : [];
    if (typeof value !== "number" || scope.idKind !== "integer") return [];
    return Number.isSafeInteger(value) ? [integerKey(value)] : [];
  });
  return keys.length === 0 ? "false" : `resource.key = any(${bind(scope, keys, "text[]")})`;
}

type Comparison = Condition & { kind: "gt" | "gte" | "lt" | "lte" };

/** The condition that the id compares with one of the values. */
export function idCompareSql({ kind, values }: Comparison, scope: Scope): string {
  return either(
    values.map((value) =>
      typeof value === "number" ? numberSql(kind, value, scope) : textCompareSql(kind, value, scope),
    ),
  );
}

/** The id in lower case; null if it is an integer. */
export function loweredIdSql(idKind: IdKind): string {
  if (idKind !== "integer") return "lower(resource.key)";
  return `(case when resource.key >= '${textMark}' then lower(substr(resource.key, 2)) end)`;
}

function textKey(idKind: IdKind, text: string): string {
  return idKind === "integer" ? textMark + text : text;
}

function textCompareSql(kind: Comparison["kind"], operand: string, scope: Scope): string {
  const isText = scope.idKind === "integer" ? `resource.key >= '${textMark}' and ` : "";
  const end = operand.indexOf("\0");
  const limit = textKey(scope.idKind, end === -1 ? operand : operand.slice(0, end));
  // No id contains a null character. An operand with one sorts directly after the text before it.
  const known = end === -1 ? kind : kind.startsWith("g") ? "gt" : "lte";
  return `(${isText}resource.key ${comparisons[known]} ${bind(scope, limit, "text")})`;
}

const comparisons = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

function numberSql(kind: Comparison["kind"], operand: number, scope: Scope): string {
  if (scope.idKind !== "integer") return "false";
  const isInteger = `resource.key < '${textMark}'`;
  const isUpwards = kind.startsWith("g");
  if (operand > Number.MAX_SAFE_INTEGER) return isUpwards ? "false" : `(${isInteger})`;
  if (operand < -Number.MAX_SAFE_INTEGER) return isUpwards ? `(${isInteger})` : "false";
  const floor = Math.floor(operand);
  // Between two integers, a comparison with the lower one gives the same result.
  const known = floor === operand ? kind : isUpwards ? "gt" : "lte";
  const limit = floor < -Number.MAX_SAFE_INTEGER ? -Number.MAX_SAFE_INTEGER : floor;
  return `(${isInteger} and resource.key ${comparisons[known]} ${bind(scope, integerKey(limit), "text")})`;
}
