/** What to write instead of a parameter that is not known here and that other servers know. */
import { shown } from "../collection/shown.ts";
import { parameter } from "./example.ts";
import { asParameters } from "./operator-guesses.ts";
import { guessedParameter, type Meant, type Others, plainName, useCursor } from "./parameter-guesses.ts";
import { isDirection, sortMeantBy } from "./sort-guesses.ts";

const brackets = /^([^[\]]+)((?:\[[^[\]]*\])+)$/;

/** `status!` of `status!=open`, and `views>5`, which has no `=`. */
const comparison = /^([^!<>~]+)([!<>~])([^!<>~]*)$/;

const noOthers: Others = () => undefined;

/**
 * A sentence that says what to write instead, with a blank before it; nothing where the name is not known. It is made of
 * the request alone: what the collection has, and who may see it, does not matter.
 */
export function hintFor(name: string, value: string, others: Others = noOthers): string {
  const meant = meantByShape(name, value) ?? guessedParameter(name, value, others);
  if (meant === undefined) return "";
  return "write" in meant ? ` Write ${shown(meant.write)}` : ` ${meant.say}`;
}

/**
 * Whether a name is written as other servers write parameters, and as hardly any attribute is called: `filter[x]`, `$top`,
 * `status!`, `views>5`.
 */
export function isForeignShape(name: string, value: string): boolean {
  if (brackets.test(name) || comparedWith(name, value) !== undefined) return true;
  return name.startsWith("$") && guessedParameter(name, value, noOthers) !== undefined;
}

function meantByShape(name: string, value: string): Meant | undefined {
  const [, base, parts] = brackets.exec(name) ?? [];
  if (base !== undefined && parts !== undefined)
    return meantByBrackets(base, parts.slice(1, -1).split("]["), value);
  const [, attribute, operator] = /^(.+?)__([a-z]+)$/i.exec(name) ?? [];
  const write =
    attribute === undefined || operator === undefined
      ? comparedWith(name, value)
      : asParameters(attribute, operator, value);
  return write === undefined ? undefined : { write };
}

function comparedWith(name: string, value: string): string | undefined {
  const [, attribute, sign, rest] = comparison.exec(name) ?? [];
  if (attribute === undefined || sign === undefined || rest === undefined) return undefined;
  if (rest === "")
    return asParameters(attribute, value === "" ? sign : (signsWithEquals[sign] ?? sign), value);
  return value === "" && sign !== "!" ? asParameters(attribute, sign, rest) : undefined;
}

const signsWithEquals: Readonly<Record<string, string>> = { "<": "<=", ">": ">=" };

function meantByBrackets(base: string, parts: readonly string[], value: string): Meant {
  const [first = "", second] = parts;
  const plain = plainName(base);
  if (plain === "page")
    return pageParts[first] === undefined ? useCursor : { write: parameter(pageParts[first], value) };
  if (plain === "fields") return { write: parameter("fields", value) };
  if (["sort", "order", "orderby"].includes(plain))
    return {
      write: parameter("sort", isDirection(value) ? sortMeantBy(`${first}:${value}`) : sortMeantBy(value)),
    };
  if (["filter", "filters", "where"].includes(plain)) return { write: conditionOf(first, second, value) };
  return { write: conditionOf(base, first, value) };
}

/** The parts of a page in brackets, as JSON:API recommends them. */
const pageParts: Readonly<Record<string, string>> = {
  number: "_page",
  size: "_per_page",
  limit: "limit",
  offset: "offset",
};

/** A part that is no operator is an attribute inside of the other one, but for those that only number the values. */
function conditionOf(name: string, part: string | undefined, value: string): string {
  if (part === undefined || /^\d*$/.test(part)) return parameter(name, value);
  return asParameters(name, part, value) ?? parameter(`${name}.${part}`, value);
}
