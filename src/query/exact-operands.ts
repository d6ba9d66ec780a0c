/** Operands of comparisons with exact numbers. They are compared by their values, however they are written. */
import { typeOf } from "../collection/attributes.ts";
import { exactKeyOf, maxDigits, textOfNumber } from "../collection/exact-numbers.ts";
import { shortJson } from "../collection/messages.ts";
import type { Path } from "../collection/paths.ts";
import { type Condition, isComparing, type Scalar } from "./conditions.ts";
import type { DateKind } from "./date-operands.ts";
import { anyOf, type Filter } from "./filter.ts";
import { type OperatorName, operators } from "./operators.ts";
import type { Attribute } from "./reading.ts";

/** What an operator compares as exact numbers: the attribute or the items of the array in it, and which other types these can have. */
export interface ComparedExact extends Pick<Attribute, "types"> {
  kind: DateKind;
}

/** What the operator compares, if the schema declares it as an exact number. */
export function exactFor(operator: OperatorName, attribute: Attribute): ComparedExact | undefined {
  const { kind } = operators[operator];
  const { types, isExact, itemTypes, hasExactItems } = attribute;
  if (isComparing(kind)) return isExact === true ? { kind, types } : undefined;
  const isItem = kind === "contains" && hasExactItems === true && types?.has("string") === false;
  return isItem ? { kind, types: itemTypes } : undefined;
}

/**
 * The condition that compares exact numbers with values as the client wrote them. `isText`: they come from a query string.
 * `refuse` gets why a value is no operand.
 */
export function exactCondition(
  { kind, types }: ComparedExact,
  path: Path,
  { written, isText }: { written: readonly Scalar[]; isText: boolean },
  refuse: (why: string) => void,
): Filter {
  const keys = new Set<string>();
  const others = new Set<Scalar>();
  const isEquality = kind === "in" || kind === "contains";
  for (const each of written) {
    const other = isText ? literals.get(String(each)) : each;
    const key = exactKeyOf(typeof each === "number" ? textOfNumber(each) : each);
    if (key !== undefined) keys.add(key);
    else if (isEquality && other === null) others.add(other);
    else if (isEquality && typeof other === "boolean" && types?.has(typeOf(other)) === true)
      others.add(other);
    else refuse(whyNotExact(each));
  }
  const conditions: Condition[] = [];
  if (keys.size > 0) conditions.push({ kind, path, values: [...keys], as: "exact" });
  if (isEquality && others.size > 0) conditions.push({ kind, path, values: [...others] });
  return anyOf(conditions);
}

const literals = new Map<string, boolean | null>([
  ["null", null],
  ["true", true],
  ["false", false],
]);

/** Why an operand is not an exact number. Completes a sentence that begins with the attribute. */
function whyNotExact(written: Scalar): string {
  const hint = /^ [0-9]/.test(String(written)) ? '. In a URL, write "+" as %2B' : "";
  return `is an exact number and cannot be compared with ${shortJson(written)}. Write a number such as -12.50, with at most ${maxDigits} digits and no exponent${hint}`;
}
