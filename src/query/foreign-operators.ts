/**
 * Translates filter operators of other servers, such as `$lte`, `isnull` and `ilike`. The service refuses these operators, and
 * the messages show the translation. Nothing here knows which attributes exist.
 */
import { didYouMean, shortJson } from "../collection/messages.ts";
import { isOperator, type OperatorName, operatorNames } from "./operators.ts";

/** Operators of this service, with their values. All must match. With `negated`, at least one must not match. */
interface Translation {
  conditions: Partial<Record<OperatorName, unknown>>;
  negated?: boolean;
}

type Translator = (value: unknown) => Translation;

const one =
  (operator: OperatorName, convert: (value: unknown) => unknown = (value) => value): Translator =>
  (value) => ({ conditions: { [operator]: convert(value) } });

/** The operators of other servers, in lower case and without `_`, `-` and `$`, and their translations. */
const translators: readonly [names: string, translator: Translator][] = [
  ["= == equal equals is exact iexact", one("eq")],
  ["! != <> neq not isnot noteq notequal notequals unequal", one("ne")],
  ["> greater greaterthan above after", one("gt")],
  [">= ge min from since atleast", one("gte")],
  ["< less lessthan below before under", one("lt")],
  ["<= le max until to atmost", one("lte")],
  ["between range", (value) => ({ conditions: boundsOf(value) })],
  ["any anyof oneof", one("in")],
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
];

const translatorByName = new Map(
  translators.flatMap(([names, translator]) => names.split(" ").map((name) => [name, translator])),
);

const ownNames = new Map(operatorNames.map((name) => [name.toLowerCase(), name]));

/** Translates an operator of another server with its value; `undefined` if the operator is unknown. */
function translateOperator(operator: string, value: unknown): Translation | undefined {
  const plain = operator.toLowerCase().replaceAll(/[_$-]/g, "");
  const own = ownNames.get(plain);
  return own === undefined ? translatorByName.get(plain)?.(value) : { conditions: { [own]: value } };
}

/** The part of a query string for an operator of this service or another server; `undefined` if the operator is unknown. */
export function writeCondition(name: string, operator: string, texts: readonly string[]): string | undefined {
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
    return parameters === undefined ? undefined : shortJson(parameters);
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
