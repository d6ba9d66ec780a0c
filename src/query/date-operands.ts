/** Operands of comparisons with dates. A date is compared by its instant, in whatever form the operand and the attribute have it. */
import { type DateForm, typeOf } from "../collection/attributes.ts";
import { timeExamples } from "../collection/dates.ts";
import { type Instant, instantKeyOf, instantOf, keyOf } from "../collection/instants.ts";
import { shortJson } from "../collection/messages.ts";
import type { Path } from "../collection/paths.ts";
import { relativeTime } from "../collection/relative-times.ts";
import type { TimeZone } from "../collection/time-zones.ts";
import { type ComparingKind, type Condition, isComparing, type Scalar } from "./conditions.ts";
import { anyOf, type Filter } from "./filter.ts";
import { type OperatorName, operators } from "./operators.ts";
import type { Attribute } from "./reading.ts";

/** The kinds of condition that can be about dates. */
export type DateKind = ComparingKind | "contains";

/** What the operator compares, if the schema declares it as a date: the attribute, or the items of the array in it. */
export function datesFor(operator: OperatorName, attribute: Attribute): ComparedDates | undefined {
  const { kind } = operators[operator];
  const { types, dates, itemTypes, itemDates } = attribute;
  if (isComparing(kind)) return dates && { kind, types, dates };
  if (kind !== "contains" || itemDates === undefined || types === undefined) return undefined;
  return types.has("string") ? undefined : { kind, types: itemTypes, dates: itemDates };
}

/** Dates that an operator compares: which other types their values can have, and their forms. */
export interface ComparedDates extends Pick<Attribute, "types"> {
  kind: DateKind;
  dates: ReadonlySet<DateForm>;
}

/**
 * The operand of a comparison with a date: the instant that it means as Unix time if it is no text, or a value of another type
 * that the attribute can have. `text`: whether it comes from a query string, where every value is a text. `undefined` if it is
 * no date.
 */
export function readDateOperand(
  written: Scalar,
  { types, dates }: ComparedDates,
  isText: boolean,
): Instant | Scalar | undefined {
  const value = isText && typeof written === "string" ? (literals.get(written) ?? written) : written;
  if (value === null || (isText && written === "null")) return null;
  if (typeof value === "boolean") return types === undefined || types.has(typeOf(value)) ? value : undefined;
  if (!dates.has("millis") && yearShape.test(String(value))) return undefined;
  const isNumber = isText && /^-?[0-9]{1,16}$/.test(String(value));
  return instantOf(isNumber ? Number(value) : value, "date");
}

/** Nobody who writes a year means the first ten seconds of 1970. */
const yearShape = /^[0-9]{4}$/;

const literals = new Map<string, boolean>([
  ["true", true],
  ["false", false],
]);

/**
 * The instant of `now`, `now-7d` or `today+1h` at a time (Unix time in milliseconds), with the days of a time zone; `undefined` for any
 * other operand.
 */
export function relativeInstant(written: Scalar, now: () => number, zone?: TimeZone): Instant | undefined {
  const ms = relativeTime(String(written), now, zone);
  return ms === undefined ? undefined : { ms, rest: "" };
}

/** Whether an operand depends on the time zone of the request. */
export function dependsOnZone(written: Scalar): boolean {
  return String(written).startsWith("today");
}

/** Why an operand is not a date. Completes a sentence that begins with the attribute. */
export function whyNoDate(written: Scalar): string {
  const isText = typeof written === "string";
  const hint =
    isText && /^(now|today) \d+\w$| \d\d:\d\d$/.test(written) ? '. In a URL, write "+" as %2B' : "";
  const what = `is a date and cannot be compared with ${shortJson(written)}`;
  return isText && /^(now|today)\W*\d/.test(written)
    ? `${what}. Write a distance such as now-7d: with + or -, a whole number, and s, m, h, d or w${hint}`
    : `${what}. Write an existing date such as ${timeExamples}, or a time such as today or now-7d${hint}`;
}

/** Why the filter of a feed or webhook cannot be relative. Completes a sentence that begins with the attribute. */
export function whyNotNow(written: Scalar): string {
  return `cannot be compared with ${shortJson(written)} here, because there is an event when a resource changes, but none when time passes. Write a time that stays the same, such as ${timeExamples}`;
}

/** The condition that compares a date, or looks for one in an array. */
export function dateCondition(
  kind: DateKind,
  path: Path,
  operands: readonly (Instant | Scalar)[],
  relative?: string,
): Filter {
  const instants = operands.filter((each): each is Instant => typeof each === "object" && each !== null);
  const others = operands.filter((each): each is Scalar => typeof each !== "object" || each === null);
  const values = [...new Set(instants.map(keyOf))];
  const conditions: Condition[] = [];
  if (values.length > 0)
    conditions.push({ kind, path, values, as: "date", ...(relative !== undefined && { relative }) });
  if ((kind === "in" || kind === "contains") && others.length > 0)
    conditions.push({ kind, path, values: others });
  return anyOf(conditions);
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
