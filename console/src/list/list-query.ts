/** The query string of a list, as the address bar has it: what the console reads and changes of it. */

/** The operators that a chip can have, in the order of its menu. */
export const operators = [
  "eq",
  "ne",
  "gt",
  "gte",
  "lt",
  "lte",
  "in",
  "nin",
  "contains",
  "startsWith",
  "endsWith",
  "exists",
] as const;
export type Operator = (typeof operators)[number];

/** One filter by an attribute. */
export interface Condition {
  name: string;
  operator: Operator;
  /** As in the query string. Lists have commas between their values. */
  value: string;
  /** The name of the parameter, where it is another form of the same, or a name that only the service can judge. */
  parameter?: string;
}

/** A column that the list is sorted by. */
export interface SortKey {
  name: string;
  isDescending: boolean;
}

/** A list as the console shows it. */
export interface ListQuery {
  conditions: readonly Condition[];
  sort: readonly SortKey[];
  /** Words to search for. */
  search: string;
  /** A filter as JSON, which has no chips. */
  filter: string;
}

/** Parameters that are not attributes, and that the console does not show. */
const others: ReadonlySet<string> = new Set([
  "limit",
  "cursor",
  "offset",
  "fields",
  "count",
  "embed",
  "envelope",
  "aggregate",
  "group",
  "distinct",
]);

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

/** The values of `in` and `nin`, and the one value of other operators. */
export function valuesOf({ operator, value }: Pick<Condition, "operator" | "value">): string[] {
  return operator === "in" || operator === "nin" ? value.split(",").filter((each) => each !== "") : [value];
}

function readSort(text: string): SortKey[] {
  const pair = readPair(text);
  if (pair !== undefined) return [pair];
  return text
    .split(",")
    .filter((each) => !["", "-", "+"].includes(each))
    .map((each) => ({ name: each.replace(/^[-+]/, ""), isDescending: each.startsWith("-") }));
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

function formatSort(sort: readonly SortKey[]): string {
  const [only] = sort;
  if (sort.length === 1 && only !== undefined && /^[-+[]|[,:]/.test(only.name))
    return JSON.stringify([only.name, only.isDescending ? "DESC" : "ASC"]);
  return sort.map(({ name, isDescending }) => (isDescending ? `-${name}` : name)).join(",");
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
  return others.map((each) => (each.name === name ? { name, isDescending: true } : each));
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
