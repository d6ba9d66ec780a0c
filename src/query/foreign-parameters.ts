/**
 * Recognizes query parameters of other servers, such as `pageSize`, `$filter` and `filter[x]`. The service refuses these
 * parameters, and the messages show what to write instead.
 */
import { shortJson } from "../collection/messages.ts";
import { writeCondition, writeParameter } from "./foreign-operators.ts";
import { isDirection, translateSort } from "./foreign-sorts.ts";

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

/** The advice for each parameter of other servers. The names are in lower case and without `_`, `-` and `$`. */
const advisers: readonly [names: string, adviser: Adviser][] = [
  ["page pagenumber pagenum pageno pageindex", as("_page")],
  ["perpage pagesize size itemsperpage resultsperpage", as("_per_page")],
  ["top take first max maxresults rows", as("limit")],
  ["skip start from", as("offset")],
  [
    "after before pagetoken nexttoken nextpagetoken continuationtoken startingafter startafter",
    () => useCursor,
  ],
  [[...new Set([...orderNames, ...directionNames])].join(" "), sortAdvice],
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
];

const adviserByName = new Map(
  advisers.flatMap(([names, adviser]) => names.split(" ").map((name) => [name, adviser])),
);

/** The advice for a parameter of another server with this value; `undefined` if the parameter is unknown. */
export function adviceFor(name: string, value: string, others: OtherParameters): Advice | undefined {
  return adviserByName.get(plainName(name))?.(value, others);
}

/** A name as in the tables of foreign names: in lower case, without `_`, `-` and `$`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_$-]/g, "");
}

function sortAdvice(value: string, others: OtherParameters): Advice {
  const isWord = isDirection(value);
  const attributes = isWord ? others("sort", ...orderNames) : value;
  const direction = isWord ? value : others(...directionNames);
  if (attributes === undefined || isDirection(attributes))
    return { say: 'To sort in descending order, write "-" before the attribute, such as "sort=-name"' };
  return {
    write: writeParameter(
      "sort",
      translateSort(attributes, isDirection(direction ?? "") ? direction : "asc"),
    ),
  };
}

const oData = /^([\w./]+) (eq|ne|gt|ge|lt|le) (?:'([^']*)'|(\S+))$/;

/** JSON becomes the value of `filter`. A comparison of OData becomes its own parameter. */
function filterAdvice(value: string): Advice {
  const [, name, operator, quoted, bare] = oData.exec(value) ?? [];
  const comparison =
    name === undefined || operator === undefined
      ? undefined
      : writeCondition(name.replaceAll("/", "."), operator, [quoted ?? bare ?? ""]);
  if (comparison !== undefined) return { write: comparison };
  return { write: value.startsWith("{") ? writeParameter("filter", value) : 'filter={"name":"value"}' };
}

const brackets = /^([^[\]]+)((?:\[[^[\]]*\])+)$/;

/** The name `status!` in `status!=open`, or the name `views>5`, which has no value. */
const comparison = /^([^!<>~]+)([!<>~])([^!<>~]*)$/;

const noOthers: OtherParameters = () => undefined;

/** What is wrong with the relations in a text, as a space and sentences; empty if nothing is. */
export type RelationsAdviser = (text: string) => string;

/**
 * A space and sentences that say what to write instead; empty if no known server uses the name. They depend only on the
 * request and on what `adviseRelations` can reveal.
 */
export function hintFor(
  name: string,
  texts: readonly string[],
  {
    others = noOthers,
    adviseRelations,
  }: { others?: OtherParameters; adviseRelations?: RelationsAdviser | undefined } = {},
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
  return name.startsWith("$") && adviceFor(name, "", noOthers) !== undefined;
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
    return {
      write: writeParameter(
        "sort",
        isDirection(value) ? translateSort(`${first}:${value}`) : translateSort(value),
      ),
    };
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
