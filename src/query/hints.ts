/** Says what to write instead of a parameter of another server. */
import { shortJson } from "../collection/messages.ts";
import { parameter } from "./example.ts";
import { asParameters } from "./operator-guesses.ts";
import { guessedParameter, type Meant, type Others, plainName, useCursor } from "./parameter-guesses.ts";
import { isDirection, sortMeantBy } from "./sort-guesses.ts";

const brackets = /^([^[\]]+)((?:\[[^[\]]*\])+)$/;

/** The name `status!` in `status!=open`, or the name `views>5`, which has no value. */
const comparison = /^([^!<>~]+)([!<>~])([^!<>~]*)$/;

const noOthers: Others = () => undefined;

/**
 * A sentence that says what to write instead, after a space; empty if no server is known to use the name. It depends only
 * on the request, not on the collection, so it reveals nothing.
 */
export function hintFor(name: string, texts: readonly string[], others: Others = noOthers): string {
  const meant = meantByShape(name, texts) ?? guessedParameter(name, texts.join(","), others);
  if (meant === undefined) return "";
  return "write" in meant ? ` Write ${shortJson(meant.write)}` : ` ${meant.say}`;
}

/**
 * Whether a name has the form of another server's parameter, such as `filter[x]`, `$top`, `status!` or `views>5`. Hardly
 * any attribute has such a name.
 */
export function isForeignShape(name: string, texts: readonly string[]): boolean {
  if (brackets.test(name) || comparedWith(name, texts) !== undefined) return true;
  return name.startsWith("$") && guessedParameter(name, "", noOthers) !== undefined;
}

function meantByShape(name: string, texts: readonly string[]): Meant | undefined {
  const [, base, parts] = brackets.exec(name) ?? [];
  if (base !== undefined && parts !== undefined)
    return meantByBrackets(base, parts.slice(1, -1).split("]["), texts);
  const [, attribute, operator] = /^(.+?)__([a-z]+)$/i.exec(name) ?? [];
  const write =
    attribute === undefined || operator === undefined
      ? comparedWith(name, texts)
      : asParameters(attribute, operator, texts);
  return write === undefined ? undefined : { write };
}

function comparedWith(name: string, texts: readonly string[]): string | undefined {
  const [, attribute, sign, rest] = comparison.exec(name) ?? [];
  if (attribute === undefined || sign === undefined || rest === undefined) return undefined;
  const hasValue = texts.some((text) => text !== "");
  if (rest === "") return asParameters(attribute, hasValue ? (signsWithEquals[sign] ?? sign) : sign, texts);
  return hasValue || sign === "!" ? undefined : asParameters(attribute, sign, [rest]);
}

const signsWithEquals: Readonly<Record<string, string>> = { "<": "<=", ">": ">=" };

function meantByBrackets(base: string, parts: readonly string[], texts: readonly string[]): Meant {
  const [first = "", second] = parts;
  const value = texts.join(",");
  const plain = plainName(base);
  if (plain === "page")
    return pageParts[first] === undefined ? useCursor : { write: parameter(pageParts[first], value) };
  if (plain === "fields") return { write: parameter("fields", value) };
  if (["sort", "order", "orderby"].includes(plain))
    return {
      write: parameter("sort", isDirection(value) ? sortMeantBy(`${first}:${value}`) : sortMeantBy(value)),
    };
  const isFilter = ["filter", "filters", "where"].includes(plain);
  if (isFilter && /^\$?(?:and|or|not)$/i.test(first)) return useJson;
  if (isFilter && first !== "") return { write: conditionOf(first, second, texts) };
  return { write: conditionOf(base, first, texts) };
}

/** Groups of conditions are JSON here. */
const useJson: Meant = {
  say: 'Write a group of conditions as JSON, such as filter={"or":[{"name":"a"},{"name":"b"}]}',
};

/** The parts of a page in brackets, as JSON:API recommends them. */
const pageParts: Readonly<Record<string, string>> = {
  number: "_page",
  size: "_per_page",
  limit: "limit",
  offset: "offset",
};

/** In brackets stands an operator, a position in a list of values, or the name of a nested attribute. */
function conditionOf(name: string, part: string | undefined, texts: readonly string[]): string {
  const operator = part === undefined || /^\d*$/.test(part) ? "eq" : part;
  return asParameters(name, operator, texts) ?? parameter(`${name}.${part}`, texts.join(","));
}
