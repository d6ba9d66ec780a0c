/** The table of filter operators. Requests, error messages and the OpenAPI document use it. */
import type { ConditionKind } from "./filter.ts";

/** One operator. */
interface Operator {
  /** The kind of its condition. */
  kind: ConditionKind;
  /** Whether it matches if the condition does not. */
  negated: boolean;
  /** The value that it needs. `list`: several scalars. `comparable`: a number or a string. */
  takes: "scalar" | "list" | "comparable" | "string" | "boolean";
  /** Whether a repeated parameter adds values. */
  collects: boolean;
  /** Completes a sentence that begins with the attribute. */
  meaning: string;
}

/** Every operator, by its name after the colon of a parameter or in a JSON filter. */
export const operators = {
  eq: { kind: "in", negated: false, takes: "scalar", collects: true, meaning: "equals the value" },
  ne: {
    kind: "in",
    negated: true,
    takes: "scalar",
    collects: true,
    meaning: "does not equal the value, or does not exist",
  },
  gt: {
    kind: "gt",
    negated: false,
    takes: "comparable",
    collects: false,
    meaning: "is greater than the value",
  },
  gte: {
    kind: "gte",
    negated: false,
    takes: "comparable",
    collects: false,
    meaning: "is greater than or equal to the value",
  },
  lt: { kind: "lt", negated: false, takes: "comparable", collects: false, meaning: "is less than the value" },
  lte: {
    kind: "lte",
    negated: false,
    takes: "comparable",
    collects: false,
    meaning: "is less than or equal to the value",
  },
  in: { kind: "in", negated: false, takes: "list", collects: true, meaning: "equals one of the values" },
  nin: {
    kind: "in",
    negated: true,
    takes: "list",
    collects: true,
    meaning: "does not equal any of the values, or does not exist",
  },
  contains: {
    kind: "contains",
    negated: false,
    takes: "scalar",
    collects: false,
    meaning: "is a string that contains the value, or an array with the value as an element",
  },
  startsWith: {
    kind: "startsWith",
    negated: false,
    takes: "string",
    collects: false,
    meaning: "is a string that starts with the value",
  },
  endsWith: {
    kind: "endsWith",
    negated: false,
    takes: "string",
    collects: false,
    meaning: "is a string that ends with the value",
  },
  exists: {
    kind: "exists",
    negated: false,
    takes: "boolean",
    collects: false,
    meaning: "exists (true) or does not exist (false); null exists",
  },
} as const satisfies Record<string, Operator>;

/** The name of an operator. */
export type OperatorName = keyof typeof operators;

/** The names of all operators. */
export const operatorNames = Object.keys(operators) as readonly OperatorName[];

/** The suffixes of attribute names that clients of json-server use, and their operators. */
export const legacySuffixes = {
  _ne: "ne",
  _gt: "gt",
  _gte: "gte",
  _lt: "lt",
  _lte: "lte",
  _like: "contains",
} as const satisfies Record<string, OperatorName>;

/** Whether an operator has this name. */
export function isOperator(name: string): name is OperatorName {
  return Object.hasOwn(operators, name);
}
