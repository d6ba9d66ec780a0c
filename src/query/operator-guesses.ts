/** What other servers call operators, and what to write here instead. */
import { didYouMean } from "../collection/nearest.ts";
import { shown } from "../collection/shown.ts";
import { parameter } from "./example.ts";
import { isOperator, type OperatorName, operatorNames } from "./operators.ts";

/** What was meant: operators with their values, of which all hold, or none. */
interface Meant {
  conditions: Partial<Record<OperatorName, unknown>>;
  negated?: boolean;
}

type Guess = (value: unknown) => Meant;

const one =
  (operator: OperatorName, convert: (value: unknown) => unknown = (value) => value): Guess =>
  (value) => ({ conditions: { [operator]: convert(value) } });

/** Every guess, by the names that lead to it: in small letters, without `_`, `-` and `$`. */
const guesses: readonly [names: string, guess: Guess][] = [
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

const guessByName = new Map(
  guesses.flatMap(([names, guess]) => names.split(" ").map((name) => [name, guess])),
);

const ownNames = new Map(operatorNames.map((name) => [name.toLowerCase(), name]));

/** What an operator of another server means with this value; `undefined` where that is not known. */
export function meantBy(operator: string, value: unknown): Meant | undefined {
  const plain = operator.toLowerCase().replaceAll(/[_$-]/g, "");
  const own = ownNames.get(plain);
  return own === undefined ? guessByName.get(plain)?.(value) : { conditions: { [own]: value } };
}

/** How a query string asks what an operator of any server means with these values; `undefined` where that is not known. */
export function asParameters(name: string, operator: string, texts: readonly string[]): string | undefined {
  const value = texts.join(",");
  const meant = isOperator(operator) ? { conditions: { [operator]: value } } : meantBy(operator, value);
  if (meant === undefined) return undefined;
  if (meant.negated === true)
    return parameter("filter", JSON.stringify({ not: { [name]: meant.conditions } }));
  return Object.entries(meant.conditions)
    .flatMap(([each, operand]) => {
      const isRepeated = operand === value && (each === "eq" || each === "ne");
      const operands = isRepeated ? texts : [String(operand)];
      return operands.map((text) => parameter(each === "eq" ? name : `${name}:${each}`, text));
    })
    .join("&");
}

/** Where an operator was written, with what it was given. */
export type Written =
  | { in: "query"; name: string; texts: readonly string[] }
  | { in: "body"; name: string; value: unknown };

/** What is wrong with a name that is no operator, and what would be right. */
export function unknownOperator(operator: string, written: Written): string {
  const example = exampleOf(operator, written);
  const advice =
    example === undefined
      ? didYouMean(operator, operatorNames) || ` Known names: ${operatorNames.join(", ")}`
      : ` Write ${example}`;
  return `${shown(operator)} is not an operator.${advice}`;
}

function exampleOf(operator: string, written: Written): string | undefined {
  if (written.in === "query") {
    const parameters = asParameters(written.name, operator, written.texts);
    return parameters === undefined ? undefined : shown(parameters);
  }
  const meant = meantBy(operator, written.value);
  if (meant === undefined) return undefined;
  const condition = { [written.name]: meant.conditions };
  return shown(meant.negated === true ? { not: condition } : condition);
}

/** `1,5` and `[1,5]` have both bounds. */
function boundsOf(value: unknown): Meant["conditions"] {
  const [from = "…", to = "…"] = Array.isArray(value) ? value : String(value).split(/,|\.\./);
  return { gte: from, lte: to };
}

/** No example shows more. The expression takes time that grows with the square of the length. */
const maxPattern = 100;

/** Patterns are not understood here: `%oslo%`, `*oslo*` and `^oslo.*` look for `oslo`. */
function withoutWildcards(value: unknown): unknown {
  if (typeof value !== "string" || value.length > maxPattern) return value;
  return value.replaceAll(/^(?:\^|%|\*|\.\*)+|(?:\$|%|\.?\*)+$/g, "");
}

/** Of `isnull=false` and its like. */
function isFalse(value: unknown): boolean {
  return value === false || value === "false" || value === "0";
}
