/** The operators of other servers, and what to write here instead. */
import { didYouMean, shortJson } from "../collection/messages.ts";
import { parameter } from "./example.ts";
import { isOperator, type OperatorName, operatorNames } from "./operators.ts";

/** Operators with their values. All must hold; with `negated`, not all may. */
interface Meant {
  conditions: Partial<Record<OperatorName, unknown>>;
  negated?: boolean;
}

type Guess = (value: unknown) => Meant;

const one =
  (operator: OperatorName, convert: (value: unknown) => unknown = (value) => value): Guess =>
  (value) => ({ conditions: { [operator]: convert(value) } });

/** The operators of other servers, in lower case, without `_`, `-` and `$`; and what each one means. */
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

/** What an operator of another server means with this value; `undefined` if it is unknown. */
export function meantBy(operator: string, value: unknown): Meant | undefined {
  const plain = operator.toLowerCase().replaceAll(/[_$-]/g, "");
  const own = ownNames.get(plain);
  return own === undefined ? guessByName.get(plain)?.(value) : { conditions: { [own]: value } };
}

/** The part of a query string with the meaning of an operator of this or another server; `undefined` if it is unknown. */
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

/** The place of an operator, with its attribute and its value. */
export type Written =
  | { in: "query"; name: string; texts: readonly string[] }
  | { in: "body"; name: string; value: unknown };

/** Says that a name is not an operator, and what to write instead. */
export function unknownOperator(operator: string, written: Written): string {
  const example = exampleOf(operator, written);
  const advice =
    example === undefined
      ? didYouMean(operator, operatorNames) || ` Known names: ${operatorNames.join(", ")}`
      : ` Write ${example}`;
  return `${shortJson(operator)} is not an operator.${advice}`;
}

function exampleOf(operator: string, written: Written): string | undefined {
  if (written.in === "query") {
    const parameters = asParameters(written.name, operator, written.texts);
    return parameters === undefined ? undefined : shortJson(parameters);
  }
  const meant = meantBy(operator, written.value);
  if (meant === undefined) return undefined;
  const condition = { [written.name]: meant.conditions };
  return shortJson(meant.negated === true ? { not: condition } : condition);
}

/** The bounds in `1,5`, `1..5` or `[1,5]`. */
function boundsOf(value: unknown): Meant["conditions"] {
  const [from = "…", to = "…"] = Array.isArray(value) ? value : String(value).split(/,|\.\./);
  return { gte: from, lte: to };
}

/** Longer values are not changed: no example shows them, and the time of the expression grows with the square of the length. */
const maxPattern = 100;

/** The text in a pattern, since there are no patterns here: `oslo` in `%oslo%`, `*oslo*` and `^oslo.*`. */
function withoutWildcards(value: unknown): unknown {
  if (typeof value !== "string" || value.length > maxPattern) return value;
  return value.replaceAll(/^(?:\^|%|\*|\.\*)+|(?:\$|%|\.?\*)+$/g, "");
}

/** Whether a value such as that of `isnull=false` means false. */
function isFalse(value: unknown): boolean {
  return value === false || value === "false" || value === "0";
}
