/**
 * Recognizes operators (`$lte`, `isnull`), sorts (`name:desc`) and query parameters (`pageSize`, `filter[x]`) of other servers.
 * The service refuses them, and the messages show what to write instead. Nothing here knows which attributes exist.
 */
import { didYouMean, shortJson } from "../collection/messages.ts";
import { isOperator, type OperatorName, operatorNames } from "./operators.ts";

/** A name as in the tables of this file: in lower case, without `_`, `-` and `$`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_$-]/g, "");
}

/** A table by each of the names in the first column. */
function byName<Value>(rows: readonly [names: string, value: Value][]): ReadonlyMap<string, Value> {
  return new Map(rows.flatMap(([names, value]) => names.split(" ").map((name) => [name, value] as const)));
}

/** Operators of this service, with their values. All must match. With `negated`, at least one must not match. */
interface Translation {
  conditions: Partial<Record<OperatorName, unknown>>;
  negated?: boolean;
}

type Translator = (value: unknown) => Translation;

const one =
  (operator: OperatorName, convert: (value: unknown) => unknown = (value) => value): Translator =>
  (value) => ({ conditions: { [operator]: convert(value) } });

const translators = byName<Translator>([
  ["= == equal equals is exact", one("eq")],
  ["iexact ieq equali eqic", one("eqi")],
  ["! != <> neq not isnot noteq notequal notequals unequal", one("ne")],
  ["> greater greaterthan above after", one("gt")],
  [">= ge min from since atleast", one("gte")],
  ["< less lessthan below before under", one("lt")],
  ["<= le max until to atmost", one("lte")],
  ["between range", (value) => ({ conditions: boundsOf(value) })],
  ["anyof oneof", one("in")],
  ["notin !in noneof", one("nin")],
  [
    "~ like ilike match matches regex regexp re search substring includes include has icontains",
    one("contains", withoutWildcards),
  ],
  [
    "notlike notilike nlike nilike notcontains ncontains doesnotcontain",
    (value) => ({ conditions: { contains: withoutWildcards(value) }, negated: true }),
  ],
  ["starts startwith istartswith beginswith begins prefix sw", one("startsWith", withoutWildcards)],
  ["ends endwith iendswith suffix ew", one("endsWith", withoutWildcards)],
  ["exist isset present defined", one("exists")],
  ["null isnull", (value) => ({ conditions: { [isFalse(value) ? "ne" : "eq"]: null } })],
  ["notnull isnotnull", (value) => ({ conditions: { [isFalse(value) ? "eq" : "ne"]: null } })],
  ...operatorNames.map((name): [string, Translator] => [name.toLowerCase(), one(name)]),
]);

/** Translates an operator of another server with its value; `undefined` if the operator is unknown. */
function translateOperator(operator: string, value: unknown): Translation | undefined {
  return translators.get(plainName(operator))?.(value);
}

/** The part of a query string for an operator of this service or another server; `undefined` if the operator is unknown. */
function writeCondition(name: string, operator: string, texts: readonly string[]): string | undefined {
  const value = texts.join(",");
  const translation = isOperator(operator)
    ? { conditions: { [operator]: value } }
    : translateOperator(operator, value);
  if (translation === undefined) return undefined;
  if (translation.negated === true)
    return writeParameter("filter", JSON.stringify({ not: { [name]: translation.conditions } }));
  return Object.entries(translation.conditions)
    .flatMap(([each, operand]) => {
      const isRepeated = operand === value && (each === "eq" || each === "ne");
      const operands = isRepeated ? texts : [String(operand)];
      return operands.map((text) => writeParameter(each === "eq" ? name : `${name}:${each}`, text));
    })
    .join("&");
}

/** The condition that contains an operator. */
export type WrittenCondition =
  | { in: "query"; name: string; texts: readonly string[] }
  | { in: "body"; name: string; value: unknown };

/** A message that a name is not an operator, and what to write instead. */
export function unknownOperator(operator: string, written: WrittenCondition): string {
  const example = exampleOf(operator, written);
  const advice =
    example === undefined
      ? didYouMean(operator, operatorNames) || ` Known names: ${operatorNames.join(", ")}`
      : ` Write ${example}`;
  return `${shortJson(operator)} is not an operator.${advice}`;
}

function exampleOf(operator: string, written: WrittenCondition): string | undefined {
  if (written.in === "query") {
    const parameters = writeCondition(written.name, operator, written.texts);
    return parameters && shortJson(parameters);
  }
  const translation = translateOperator(operator, written.value);
  if (translation === undefined) return undefined;
  const condition = { [written.name]: translation.conditions };
  return shortJson(translation.negated === true ? { not: condition } : condition);
}

/** The bounds in `1,5`, `1..5` or `[1,5]`. */
function boundsOf(value: unknown): Translation["conditions"] {
  const [from = "…", to = "…"] = Array.isArray(value) ? value : String(value).split(/,|\.\./);
  return { gte: from, lte: to };
}

/** Longer values stay the same: no example shows them, and the expression takes quadratic time. */
const maxPattern = 100;

/** The text in a pattern, because this service has no patterns: `oslo` in `%oslo%`, `*oslo*` and `^oslo.*`. */
function withoutWildcards(value: unknown): unknown {
  if (typeof value !== "string" || value.length > maxPattern) return value;
  return value.replaceAll(/^(?:\^|%|\*|\.\*)+|(?:\$|%|\.?\*)+$/g, "");
}

/** Whether a value means false, as in `isnull=false`. */
function isFalse(value: unknown): boolean {
  return value === false || value === "false" || value === "0";
}

const maxValue = 40;

/** `name=value` for a query string. Writes `…` instead of a long value. */
export function writeParameter(name: string, value: string): string {
  const text = value.length > maxValue ? "…" : value;
  return `${encode(name).replaceAll("=", "%3D")}=${encode(text)}`;
}

/** Encodes only the special characters of a query string, so that people can read the example. */
function encode(text: string): string {
  return text.replaceAll(/[%&+#]/g, encodeURIComponent).replaceAll(" ", "+");
}

/** A sort key before its name is checked. */
export interface NamedKey {
  name: string;
  descending: boolean;
}

/** A sort key in the syntax of another server. */
export interface ForeignKey extends NamedKey {
  /** Whether the text is hardly the name of an attribute. A name such as `name.desc` can be a path. */
  isCertain: boolean;
}

const suffix = /^[+-]?(.+?)(:|\||\s|\.)(asc|desc|ascending|descending|-1|1)$/i;
const nullsSuffix = /([:.\s])nulls([\s_]?)(first|last)$/i;
const call = /^(asc|desc)\((.+)\)$/i;

/** Reads a sort key in the syntax of another server; `undefined` if the text does not have this form. */
export function foreignKey(text: string): ForeignKey | undefined {
  const [end, separator, blank, nulls] = nullsSuffix.exec(text) ?? [];
  if (end === undefined || nulls === undefined) return directedKey(text);
  const start = text.slice(0, -end.length);
  const key = directedKey(start);
  const isOwn = key === undefined && separator === ":" && blank === "";
  if (isOwn || isDirection(start)) return undefined;
  const { name, descending, isCertain } = key ?? {
    name: start.replace(/^[+-]/, ""),
    descending: start.startsWith("-"),
    isCertain: separator !== ".",
  };
  return { name: `${name}:nulls${nulls.toLowerCase()}`, descending, isCertain };
}

/** A key without a place of nulls. */
function directedKey(text: string): ForeignKey | undefined {
  const [, direction, inner] = call.exec(text) ?? [];
  if (direction !== undefined && inner !== undefined)
    return { name: inner, descending: isDescendingWord(direction), isCertain: true };
  const [, name, separator, word] = suffix.exec(text) ?? [];
  if (name === undefined || separator === undefined || word === undefined) return undefined;
  return { name: name.trim(), descending: isDescendingWord(word), isCertain: separator !== "." };
}

/** Whether a text is a direction, such as `desc`. */
export function isDirection(text: string): boolean {
  return /^(?:asc|desc|ascending|descending|-1|1)$/i.test(text.trim());
}

/** Whether a direction is descending. */
function isDescendingWord(text: string): boolean {
  return /^(?:desc|descending|-1)$/i.test(text.trim());
}

/** Translates a value in the syntax of another server into a value of `sort`, such as `-name,title`. */
export function translateSort(text: string, direction = "asc"): string {
  const keys: string[] = [];
  for (const written of text.split(",").map((each) => each.trim())) {
    const last = keys.at(-1);
    if (isDirection(written) && last !== undefined)
      keys[keys.length - 1] = writeKey(last.replace(/^-/, ""), isDescendingWord(written));
    else {
      const key = foreignKey(written);
      const isDescending = key?.descending ?? (written.startsWith("-") || isDescendingWord(direction));
      keys.push(writeKey(key?.name ?? written.replace(/^[+-]/, ""), isDescending));
    }
  }
  return keys.join(",");
}

/** Translates an object such as `{"name":-1}` into a value of `sort`. */
export function translateSortObject(object: Readonly<Record<string, unknown>>): string {
  return Object.entries(object)
    .map(([name, direction]) => writeKey(name, isDescendingWord(String(direction))))
    .join(",");
}

/** A sort key in the syntax of this service. */
function writeKey(name: string, isDescending: boolean): string {
  return isDescending ? `-${name}` : name;
}

/** Finds the value of another parameter of the request, by the first of these plain names that it has. */
export type OtherParameters = (...names: readonly string[]) => string | undefined;

/** The part of a query string to write instead, or a sentence if no such part exists. `embeds`: the relations in this part. */
export type Advice = { write: string; embeds?: string } | { say: string };

type Adviser = (value: string, others: OtherParameters) => Advice;

const as =
  (name: string): Adviser =>
  (value) => ({ write: writeParameter(name, value) });

/** The advice for parameters of servers that page by a token. */
const useCursor: Advice = {
  say: 'Follow the "next" link of the response: it contains the "cursor" of the next page',
};

const orderNames = ["orderby", "sortby", "ordering", "order"] as const;
const directionNames = ["order", "sortorder", "sortdir", "sortdirection", "direction", "dir"] as const;

const advisers = byName<Adviser>([
  ["page pagenumber pagenum pageno pageindex", as("_page")],
  ["perpage pagesize size itemsperpage resultsperpage", as("_per_page")],
  ["top take first max maxresults rows", as("limit")],
  ["skip start from", as("offset")],
  [
    "after before pagetoken nexttoken nextpagetoken continuationtoken startingafter startafter",
    () => useCursor,
  ],
  [[...orderNames, ...directionNames].join(" "), sortAdvice],
  ["search query text keyword keywords term", as("q")],
  ["select columns only attributes properties projection field", as("fields")],
  [
    "expand include embed populate join with relations",
    (value) => ({ write: writeParameter("embed", value), embeds: value }),
  ],
  ["where filter filters criteria conditions predicate", filterAdvice],
  ["total totalcount withcount withtotal includetotal inlinecount count", () => ({ write: "count=exact" })],
  ["format", () => ({ say: 'Choose the format with a header, such as "Accept: text/csv"' })],
  ["ids", as("id:in")],
]);

const noOthers: OtherParameters = () => undefined;

/** The advice for a parameter of another server with this value; `undefined` if the parameter is unknown. */
export function adviceFor(name: string, value: string, others = noOthers): Advice | undefined {
  return advisers.get(plainName(name))?.(value, others);
}

function sortAdvice(value: string, others: OtherParameters): Advice {
  const isWord = isDirection(value);
  const attributes = isWord ? others("sort", ...orderNames) : value;
  const direction = isWord ? value : others(...directionNames);
  if (attributes === undefined || isDirection(attributes))
    return { say: 'To sort in descending order, write "-" before the attribute, such as "sort=-name"' };
  return sortBy(attributes, isDirection(direction ?? "") ? direction : "asc");
}

function sortBy(text: string, direction?: string): Advice {
  return { write: writeParameter("sort", translateSort(text, direction)) };
}

const oData = /^([\w./]+) (eq|ne|gt|ge|lt|le) (?:'([^']*)'|(\S+))$/;

/** JSON becomes the value of `filter`. A comparison of OData becomes its own parameter. */
function filterAdvice(value: string): Advice {
  const [, name, operator, quoted, bare] = oData.exec(value) ?? [];
  const condition =
    name === undefined || operator === undefined
      ? undefined
      : writeCondition(name.replaceAll("/", "."), operator, [quoted ?? bare ?? ""]);
  if (condition !== undefined) return { write: condition };
  return { write: value.startsWith("{") ? writeParameter("filter", value) : 'filter={"name":"value"}' };
}

const brackets = /^([^[\]]+)((?:\[[^[\]]*\])+)$/;

/** The name `status!` in `status!=open`, or the name `views>5`, which has no value. */
const comparison = /^([^!<>~]+)([!<>~])([^!<>~]*)$/;

/** What is wrong with the relations in a text, as a space and sentences; empty if nothing is. */
export type RelationsAdviser = (text: string) => string;

/**
 * A space and sentences that say what to write instead; empty if no known server uses the name. They depend only on the
 * request and on what `adviseRelations` can reveal.
 */
export function hintFor(
  name: string,
  texts: readonly string[],
  { others, adviseRelations }: { others: OtherParameters; adviseRelations: RelationsAdviser | undefined },
): string {
  const advice = adviceByForm(name, texts) ?? adviceFor(name, texts.join(","), others);
  if (advice === undefined) return "";
  if ("say" in advice) return ` ${advice.say}`;
  const fault = advice.embeds === undefined ? "" : (adviseRelations?.(advice.embeds) ?? "");
  return fault === "" ? ` Write ${shortJson(advice.write)}` : ` Write "embed" with a relation.${fault}`;
}

/**
 * Whether a name has the form of another server's parameter, such as `filter[x]`, `$top`, `status!` or `views>5`. Such names
 * are very rare for attributes.
 */
export function hasForeignForm(name: string, texts: readonly string[]): boolean {
  if (brackets.test(name) || comparedWith(name, texts) !== undefined) return true;
  return name.startsWith("$") && adviceFor(name, "") !== undefined;
}

function adviceByForm(name: string, texts: readonly string[]): Advice | undefined {
  const [, base, parts] = brackets.exec(name) ?? [];
  if (base !== undefined && parts !== undefined)
    return bracketAdvice(base, parts.slice(1, -1).split("]["), texts);
  const [, attribute, operator] = /^(.+?)__([a-z]+)$/i.exec(name) ?? [];
  const write =
    attribute === undefined || operator === undefined
      ? comparedWith(name, texts)
      : writeCondition(attribute, operator, texts);
  return write === undefined ? undefined : { write };
}

function comparedWith(name: string, texts: readonly string[]): string | undefined {
  const [, attribute, sign, rest] = comparison.exec(name) ?? [];
  if (attribute === undefined || sign === undefined || rest === undefined) return undefined;
  const hasValue = texts.some((text) => text !== "");
  if (rest === "") return writeCondition(attribute, hasValue ? (signsWithEquals[sign] ?? sign) : sign, texts);
  return hasValue || sign === "!" ? undefined : writeCondition(attribute, sign, [rest]);
}

const signsWithEquals: Readonly<Record<string, string>> = { "<": "<=", ">": ">=" };

function bracketAdvice(base: string, parts: readonly string[], texts: readonly string[]): Advice {
  const [first = "", second] = parts;
  const value = texts.join(",");
  const plain = plainName(base);
  if (plain === "page")
    return pageParts[first] === undefined ? useCursor : { write: writeParameter(pageParts[first], value) };
  if (plain === "fields") return { write: writeParameter("fields", value) };
  if (["sort", "order", "orderby"].includes(plain))
    return sortBy(isDirection(value) ? `${first}:${value}` : value);
  const isFilter = ["filter", "filters", "where"].includes(plain);
  if (isFilter && /^\$?(?:and|or|not)$/i.test(first)) return useJson;
  if (isFilter && first !== "") return { write: conditionOf(first, second, texts) };
  return { write: conditionOf(base, first, texts) };
}

/** The advice for groups of conditions. */
const useJson: Advice = {
  say: 'Write a group of conditions as JSON, such as filter={"or":[{"name":"a"},{"name":"b"}]}',
};

/** The parameters `page[…]` that JSON:API recommends. */
const pageParts: Readonly<Record<string, string>> = {
  number: "_page",
  size: "_per_page",
  limit: "limit",
  offset: "offset",
};

/** The condition for a name with brackets, which contain an operator, an index or the name of a nested attribute. */
function conditionOf(name: string, part: string | undefined, texts: readonly string[]): string {
  const operator = part === undefined || /^\d*$/.test(part) ? "eq" : part;
  return writeCondition(name, operator, texts) ?? writeParameter(`${name}.${part}`, texts.join(","));
}
