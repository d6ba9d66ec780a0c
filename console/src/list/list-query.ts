/** The query string of a list, as the address bar has it: what the console reads and changes of it, and the index that it needs. */
import type { Kind } from "../service/schema.ts";
import { texts } from "../texts.ts";

/** An operator that a chip can have. */
export type Operator = keyof typeof texts.operators;
/** All of them, in the order of the menu. */
export const operators = Object.keys(texts.operators) as Operator[];

/** One filter by an attribute. */
export interface Condition {
  name: string;
  operator: Operator;
  /** As in the query string. Lists have commas between their values. */
  value: string;
  /** The name of the parameter, where it is another form of the same, or a name that only the service can judge. */
  parameter?: string;
}

export interface SortKey {
  name: string;
  isDescending: boolean;
  /** Whether texts have natural order. @default false */
  isNatural?: boolean;
}

export interface ListQuery {
  conditions: readonly Condition[];
  sort: readonly SortKey[];
  /** Words to search for. */
  search: string;
  /** A filter as JSON, which has no chips. */
  filter: string;
}

/** Parameters that are not attributes, and that the console does not show. */
const others: ReadonlySet<string> = new Set(
  "limit cursor offset fields count embed envelope aggregate group distinct".split(" "),
);

/** Reads a query string. Ignores the parameters of pages. */
export function readListQuery(text: string): ListQuery {
  const conditions: Condition[] = [];
  let [search, filter] = ["", ""];
  let sort: SortKey[] = [];
  for (const [name, value] of new URLSearchParams(text)) {
    if (name === "q") search = value;
    else if (name === "filter") filter = value;
    else if (name === "sort") sort = readSort(value);
    else if (!others.has(name)) conditions.push(readCondition(name, value));
  }
  return { conditions, sort, search, filter };
}

function readCondition(parameter: string, value: string): Condition {
  const at = parameter.lastIndexOf(":");
  const operator = operators.find((each) => at !== -1 && each === parameter.slice(at + 1));
  const condition: Condition =
    operator === undefined
      ? { name: parameter, operator: "eq", value }
      : { name: parameter.slice(0, at), operator, value };
  return parameterOf(condition) === parameter ? condition : { ...condition, parameter };
}

/** The parameter of a condition. Errors of the service name it. */
export function parameterOf({ name, operator, parameter }: Condition): string {
  return parameter ?? (operator === "eq" && isPlain(name) ? name : `${name}:${operator}`);
}

/** Whether an operator takes several values. */
export function takesSeveral(operator: Operator): boolean {
  return operator === "in" || operator === "nin" || operator === "ini";
}

/** The values of an operator that takes several, and the one value of other operators. */
export function valuesOf({ operator, value }: Pick<Condition, "operator" | "value">): string[] {
  return takesSeveral(operator) ? value.split(",").filter((each) => each !== "") : [value];
}

/** A filter of `any` as people read it, such as `sku is A, qty at least 5`. What it cannot say so stays JSON. */
export function itemsText(value: string): string {
  try {
    const members = Object.entries(JSON.parse(value) as object).map(([name, wanted]) =>
      memberText(name, wanted),
    );
    return members.includes(undefined) || members.length === 0 ? value : members.join(", ");
  } catch {
    return value;
  }
}

/** What one member of a filter says; `undefined` for a group, and for a filter inside of it. */
function memberText(name: string, wanted: unknown): string | undefined {
  if (["and", "or", "not"].includes(name)) return undefined;
  const isObject = typeof wanted === "object" && wanted !== null && !Array.isArray(wanted);
  const conditions = Object.entries(isObject ? wanted : { [Array.isArray(wanted) ? "in" : "eq"]: wanted });
  const isKnown = conditions.every(
    ([operator]) => operator !== "any" && Object.hasOwn(texts.operators, operator),
  );
  if (!isKnown || conditions.length === 0) return undefined;
  const said = conditions.map(
    ([operator, operand]) => `${texts.operators[operator as Operator]} ${textOf(operand)}`,
  );
  return `${name} ${said.join(", ")}`;
}

function textOf(operand: unknown): string {
  if (Array.isArray(operand)) return operand.map(textOf).join(", ");
  return typeof operand === "string" && operand !== "" ? operand : JSON.stringify(operand);
}

function readSort(text: string): SortKey[] {
  const pair = readPair(text);
  if (pair !== undefined) return [pair];
  return text
    .split(",")
    .filter((each) => !["", "-", "+"].includes(each))
    .map((each) => ({
      name: each.replace(/^[-+]/, "").replace(/:natural$/, ""),
      isDescending: each.startsWith("-"),
      ...(each.endsWith(":natural") && { isNatural: true }),
    }));
}

/** `["year","DESC"]` */
function readPair(text: string): SortKey | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const [name, direction] = JSON.parse(text) as unknown[];
    return typeof name === "string" ? { name, isDescending: direction === "DESC" } : undefined;
  } catch {
    return undefined;
  }
}

/** Names that a list of keys would read in another way. */
const unlisted = /^[-+[]|[,:]/;

function formatSort(sort: readonly SortKey[]): string {
  const [only] = sort;
  if (sort.length === 1 && only !== undefined && unlisted.test(only.name))
    return JSON.stringify([only.name, only.isDescending ? "DESC" : "ASC"]);
  return sort.map(keyOf).join(",");
}

function keyOf({ name, isDescending, isNatural }: SortKey): string {
  return `${isDescending ? "-" : ""}${name}${isNatural === true ? ":natural" : ""}`;
}

/** The query string of a list. Equal lists have equal strings. */
export function formatListQuery({ conditions, sort, search, filter }: ListQuery): string {
  const keys = formatSort(sort);
  const parameters: (readonly [string, string])[] = [
    ...(search === "" ? [] : [["q", search] as const]),
    ...conditions.map((each) => [parameterOf(each), each.value] as const),
    ...(filter === "" ? [] : [["filter", filter] as const]),
    ...(keys === "" ? [] : [["sort", keys] as const]),
  ];
  return parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

/** Whether the list shows only a part of the collection. */
export function isFiltered({ conditions, search, filter }: ListQuery): boolean {
  return conditions.length > 0 || search !== "" || filter !== "";
}

/** What a click on a heading sorts by. With `isAdded`, the other keys stay. */
export function nextSort(sort: readonly SortKey[], name: string, isAdded: boolean): SortKey[] {
  const current = sort.find((each) => each.name === name);
  const others = isAdded ? sort : sort.filter((each) => each.name === name);
  if (current === undefined) return [...(isAdded ? sort : []), { name, isDescending: false }].slice(-5);
  if (current.isDescending) return others.filter((each) => each.name !== name);
  return others.map((each) => (each.name === name ? { ...each, isDescending: true } : each));
}

/** Turns the natural order of an attribute on or off. It becomes the only key if the list is not sorted by it. */
export function toggleNatural(sort: readonly SortKey[], name: string): SortKey[] {
  if (!sort.some((each) => each.name === name)) return [{ name, isDescending: false, isNatural: true }];
  return sort.map((each) => {
    const { isNatural = false, ...key } = each;
    return each.name !== name ? each : isNatural ? key : { ...key, isNatural: true };
  });
}

/** Whether `sort` can name the natural order of an attribute. */
export function canBeNatural(name: string): boolean {
  return !unlisted.test(name);
}

/** Whether a name needs no operator to be a filter by an attribute. */
function isPlain(name: string): boolean {
  return /^[a-zA-Z][a-zA-Z0-9.]*$/.test(name) && !reserved.has(name) && !others.has(name);
}

const reserved: ReadonlySet<string> = new Set(
  "range sort filter q at aggregate group distinct version since wait expand include dryRun".split(" "),
);

/** Percent-encodes what a fragment and a query string need, and keeps the rest readable. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(?:2C|3A|40|2F|24)/g, decodeURIComponent);
}

const ordered: readonly Operator[] = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists"];
const textual: readonly Operator[] = [
  "contains",
  "containsi",
  "eq",
  "eqi",
  "ne",
  "startsWith",
  "startsWithi",
  "endsWith",
  "in",
  "ini",
  "nin",
  "gt",
  "gte",
  "lt",
  "lte",
  "exists",
];
const times: readonly Operator[] = ["gte", "lt", "gt", "lte", "eq", "ne", "exists"];

/** The operators of each kind of attribute, the usual one first. */
export const operatorsOf: Record<Kind, readonly Operator[]> = {
  id: ["eq", "in", "gte", "lt"],
  text: textual,
  long: textual,
  number: ordered,
  integer: ordered,
  exact: ordered,
  boolean: ["eq", "ne", "exists"],
  time: times,
  date: times,
  choice: ["in", "nin", "eq", "ne", "exists"],
  list: ["contains", "containsi", "any", "exists"],
  object: ["exists"],
  reference: ["eq", "ne", "in", "nin", "exists"],
  any: textual,
};

/** The value of a filter before the user has typed one. */
export function firstValue(operator: Operator, kind: Kind): string {
  return operator === "exists" || (kind === "boolean" && operator !== "any") ? "true" : "";
}

/** The index that would serve a list, as text for the configuration: the one that the service suggests, or by its rule. */
export function suggestedIndex(
  detail: string,
  { conditions, sort, filter, search }: ListQuery,
): string | undefined {
  const [, suggested] = /"indexes":\s*(\[.*\]) to the collection/.exec(detail) ?? [];
  if (suggested !== undefined) return `"indexes": ${suggested}`;
  if (filter !== "" || search !== "") return undefined;
  const keys = sort.map(keyOf);
  const [first] = sort;
  const equal = conditions.filter(({ operator }) => operator === "eq").map(({ name }) => name);
  const ranges = conditions.filter(({ operator }) => operator !== "eq");
  const fits = ranges.every(
    ({ name, operator }) => ["gt", "gte", "lt", "lte"].includes(operator) && name === first?.name,
  );
  const names = [...new Set([...equal, ...keys])];
  return fits && names.length > 0 ? `"indexes": [${JSON.stringify(names)}]` : undefined;
}
