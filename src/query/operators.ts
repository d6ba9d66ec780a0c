/** The table of filter operators. Requests, error messages and the OpenAPI document use it. */
import type { ConditionKind } from "./conditions.ts";

/** One operator. */
interface Operator {
  /** The kind of its condition. */
  kind: ConditionKind;
  /** Whether the operator matches exactly the resources that the condition does not match. */
  negated: boolean;
  /** The value that it needs. `list`: several scalars. `texts`: several strings. `comparable`: a number or a string. `filter`: a filter as JSON. */
  takes: "scalar" | "list" | "texts" | "comparable" | "string" | "boolean" | "filter";
  /** Whether a repeated parameter adds values. */
  collects: boolean;
  /** Completes a sentence that begins with the attribute. */
  meaning: string;
}

/** Every operator, by its name after the colon of a parameter or in a JSON filter. */
export const operators = {
  eq: equality("scalar", "equals the value"),
  ne: { ...equality("scalar", "does not equal the value, or does not exist"), negated: true },
  gt: single("gt", "comparable", "is greater than the value"),
  gte: single("gte", "comparable", "is greater than or equal to the value"),
  lt: single("lt", "comparable", "is less than the value"),
  lte: single("lte", "comparable", "is less than or equal to the value"),
  in: equality("list", "equals one of the values"),
  nin: { ...equality("list", "does not equal any of the values, or does not exist"), negated: true },
  contains: single(
    "contains",
    "scalar",
    "is a string that contains the value, or an array with the value as an element",
  ),
  startsWith: single("startsWith", "string", "is a string that starts with the value"),
  endsWith: single("endsWith", "string", "is a string that ends with the value"),
  eqi: {
    ...single("ini", "string", "equals the value without regard to case, accents and width"),
    collects: true,
  },
  ini: {
    ...single("ini", "texts", "equals one of the values without regard to case, accents and width"),
    collects: true,
  },
  containsi: single(
    "containsi",
    "string",
    "is a string that contains the value, or an array with the value as an element, without regard to case, accents and width",
  ),
  startsWithi: single(
    "startsWithi",
    "string",
    "is a string that starts with the value, without regard to case, accents and width",
  ),
  any: single("any", "filter", "is an array with an object that matches the filter"),
  exists: single("exists", "boolean", "exists (true) or does not exist (false); null exists"),
} as const satisfies Record<string, Operator>;

function equality(takes: Operator["takes"], meaning: string): Operator {
  return { kind: "in", negated: false, takes, collects: true, meaning };
}

function single(kind: ConditionKind, takes: Operator["takes"], meaning: string): Operator {
  return { kind, negated: false, takes, collects: false, meaning };
}

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

/** Whether an operator takes several values, with commas between them in a parameter. */
export function takesSeveral(operator: OperatorName): boolean {
  const { takes } = operators[operator];
  return takes === "list" || takes === "texts";
}

/** Whether an operator has this name. */
export function isOperator(name: string): name is OperatorName {
  return Object.hasOwn(operators, name);
}
