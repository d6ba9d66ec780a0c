/** Operands of comparisons with values of a declared type (`collection/types/`). They are compared by what they mean, however they are written. */
import type { DeclaredValues } from "../collection/attributes.ts";
import { timeExamples } from "../collection/dates.ts";
import { instantKeyOf } from "../collection/instants.ts";
import { shortJson } from "../collection/messages.ts";
import type { Path } from "../collection/paths.ts";
import type { TimeZone } from "../collection/time-zones.ts";
import { type ComparingKind, type Condition, isComparing, type Scalar } from "./conditions.ts";
import { anyOf, type Filter } from "./filter.ts";
import { type OperatorName, operators } from "./operators.ts";
import type { Attribute, Reading } from "./reading.ts";
import type { Location } from "./violations.ts";

/** What an operator compares: values of a type in the attribute or in the items of an array, and which other types these can have. */
export interface ComparedDeclared extends DeclaredValues, Pick<Attribute, "types"> {
  kind: ComparingKind | "contains";
}

/** What the operator compares, if the schema declares a type for it. */
export function declaredFor(operator: OperatorName, attribute: Attribute): ComparedDeclared | undefined {
  const { kind } = operators[operator];
  const { types, declared, itemTypes, declaredItems } = attribute;
  if (isComparing(kind)) return declared && { kind, types, ...declared };
  if (kind !== "contains" || declaredItems === undefined || types?.has("string") !== false) return undefined;
  return { kind, types: itemTypes, ...declaredItems };
}

/**
 * The condition for values as the client wrote them. `isText`: they come from a query string. Adds a violation for each that cannot be
 * compared.
 */
export function declaredCondition(
  { kind, types, type, forms }: ComparedDeclared,
  path: Path,
  { written, isText }: { written: readonly Scalar[]; isText: boolean },
  { location, violations, used, refusesNow, zone }: Reading & { location: Location },
): Filter {
  // All conditions of a request compare with the same time.
  const now = () => {
    used.now ??= Date.now();
    return used.now;
  };
  const isEquality = kind === "in" || kind === "contains";
  const keys = new Set<string>();
  const others = new Set<Scalar>();
  let isRelative = false;
  for (const each of written) {
    const relative = type.relativeKey?.(each, now, zone);
    if (relative !== undefined) {
      isRelative = true;
      keys.add(relative);
      if (dependsOnZone(each)) used.usesZone = true;
      if (refusesNow === true) violations.add(location, type.name, whyNotNow(each));
      continue;
    }
    const key = operandKeyOf(each, { type, forms }, isText);
    const other = isText && literals.has(each) ? literals.get(each) : each;
    if (key !== undefined) keys.add(key);
    else if (
      isEquality &&
      (other === null || (typeof other === "boolean" && types?.has("boolean") !== false))
    )
      others.add(other);
    else violations.add(location, type.name, type.whyNoOperand(each));
  }
  const conditions: Condition[] = [];
  const relative = isRelative ? { relative: relativeText(written, zone) } : {};
  if (keys.size > 0) conditions.push({ kind, path, values: [...keys], as: type.name, ...relative });
  if (isEquality && others.size > 0) conditions.push({ kind, path, values: [...others] });
  return anyOf(conditions);
}

/** What is compared with values of other types, in a query string. */
const literals = new Map<Scalar, boolean | null>([
  ["null", null],
  ["true", true],
  ["false", false],
]);

/** The key of a value as a client wrote it; `undefined` if it is no value of the type. */
export function operandKeyOf(
  written: unknown,
  { type, forms }: DeclaredValues,
  isText: boolean,
): string | undefined {
  return typeof written === "string" || typeof written === "number"
    ? type.operandKey(written, { forms, isText })
    : undefined;
}

/** Whether an operand depends on the time zone of the request. */
function dependsOnZone(written: Scalar): boolean {
  return String(written).startsWith("today");
}

/** What the client wrote. It identifies the condition, whose values change with the time. */
function relativeText(written: readonly Scalar[], zone: TimeZone | undefined): string {
  const name = written.some(dependsOnZone) ? (zone?.name ?? "") : "";
  return name === "" ? JSON.stringify(written) : `${JSON.stringify(written)} ${name}`;
}

/** Why the filter of a feed or webhook cannot be relative. Completes a sentence that begins with the attribute. */
function whyNotNow(written: Scalar): string {
  return `cannot be compared with ${shortJson(written)} here, because there is an event when a resource changes, but none when time passes. Write a time that stays the same, such as ${timeExamples}`;
}

/** The keys of values that are whole times, and the other values. They compare an attribute of which no schema says what it is. */
export function splitTimes(values: readonly Scalar[]): {
  keys: readonly string[];
  others: readonly Scalar[];
} {
  const keys = new Set<string>();
  const others: Scalar[] = [];
  for (const value of values) {
    const key = instantKeyOf(value, "time");
    if (key === undefined) others.push(value);
    else keys.add(key);
  }
  return { keys: [...keys], others };
}
