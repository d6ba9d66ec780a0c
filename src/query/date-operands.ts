/** Operands of comparisons with dates. A date is compared by its instant, in whatever form the operand and the attribute have it. */
import { type DateForm, typeOf } from "../collection/attributes.ts";
import { maxUnixMillis, timeExamples } from "../collection/dates.ts";
import { type Instant, instantKeyOf, instantOf, keyOf } from "../collection/instants.ts";
import { shortJson } from "../collection/messages.ts";
import type { Path } from "../collection/paths.ts";
import { anyOf, type Condition, type Filter, matchNone, type Scalar } from "./filter.ts";
import { type OperatorName, operators } from "./operators.ts";
import type { Attribute } from "./reading.ts";

/** The kinds of condition that compare whole values, so that dates are compared as dates. */
export type ComparingKind = "in" | "gt" | "gte" | "lt" | "lte";

/** Whether a kind of condition compares whole values. */
export function isComparing(kind: Condition["kind"]): kind is ComparingKind {
  return kind !== "contains" && kind !== "startsWith" && kind !== "endsWith" && kind !== "exists";
}

/** Whether the operator compares an attribute that the schema declares as a date. */
export function comparesDates(
  operator: OperatorName,
  attribute: Attribute,
): attribute is Attribute & { dates: ReadonlySet<DateForm> } {
  return attribute.dates !== undefined && isComparing(operators[operator].kind);
}

/**
 * The operand of a comparison with a date: the instant that it means as Unix time if it is no text, or a value of another type
 * that the attribute can have. `text`: whether it comes from a query string, where every value is a text. `undefined` if it is
 * no date.
 */
export function readDateOperand(
  written: Scalar,
  { types, dates }: Attribute,
  isText: boolean,
): Instant | Scalar | undefined {
  const value = isText && typeof written === "string" ? (literals.get(written) ?? written) : written;
  if (value === null || (isText && written === "null")) return null;
  if (typeof value === "boolean") return types === undefined || types.has(typeOf(value)) ? value : undefined;
  if (dates?.has("millis") !== true && yearShape.test(String(value))) return undefined;
  const isNumber = isText && /^-?[0-9]{1,16}$/.test(String(value));
  return instantOf(isNumber ? Number(value) : value, "date");
}

/** Nobody who writes a year means the first ten seconds of 1970. */
const yearShape = /^[0-9]{4}$/;

const literals = new Map<string, boolean>([
  ["true", true],
  ["false", false],
]);

/** Why an operand is no date. Completes a sentence that begins with the attribute. */
export function whyNoDate(written: Scalar): string {
  const hint =
    typeof written === "string" && / \d\d:\d\d$/.test(written) ? '. In a URL, write "+" as %2B' : "";
  return `is a date and cannot be compared with ${shortJson(written)}. Write an existing date such as ${timeExamples}${hint}`;
}

/** The condition that compares an attribute that has dates in these forms. */
export function dateCondition(
  kind: ComparingKind,
  path: Path,
  operands: readonly (Instant | Scalar)[],
  forms: ReadonlySet<DateForm>,
): Filter {
  const instants = operands.filter((each): each is Instant => typeof each === "object" && each !== null);
  const others = operands.filter((each): each is Scalar => typeof each !== "object" || each === null);
  const [form, ...more] = forms;
  const rest: Filter[] = kind === "in" && others.length > 0 ? [{ kind, path, values: others }] : [];
  if (instants.length === 0) return anyOf(rest);
  // Texts of one form are in the order of their instants, so an index of the attribute is in this order too.
  if (form !== undefined && more.length === 0) {
    const comparisons = instants.map((instant) => inOneForm(kind, path, { instant, form }));
    if (kind !== "in") return anyOf([...comparisons, ...rest]);
    const values = comparisons.flatMap((each) => ("values" in each ? each.values : []));
    return values.length + others.length === 0 ? matchNone : { kind, path, values: [...values, ...others] };
  }
  return anyOf([{ kind, path, values: [...new Set(instants.map(keyOf))], as: "date" }, ...rest]);
}

/** The comparison with an instant, for values in one form. They are rounded: no value of the form is between two of them. */
function inOneForm(
  kind: ComparingKind,
  path: Path,
  { instant, form }: { instant: Instant; form: DateForm },
): Filter {
  const { step, least, most, write } = oneForm[form];
  const floor = Math.floor(instant.ms / step) * step;
  const isExact = floor === instant.ms && instant.rest === "" && floor >= least && floor <= most;
  if (isExact) return { kind, path, values: [write(floor)] };
  if (kind === "in") return matchNone;
  const isUpwards = kind.startsWith("g");
  if (floor < least) return isUpwards ? { kind: "gte", path, values: [write(least)] } : matchNone;
  const limit = write(Math.min(floor, most));
  return { kind: isUpwards ? "gt" : "lte", path, values: [limit] };
}

const dayMs = 86_400_000;

/** The dates of a form: the milliseconds from one to the next, the first, the last, and how one is written. */
const oneForm: Record<
  DateForm,
  { step: number; least: number; most: number; write: (ms: number) => string | number }
> = {
  day: {
    step: dayMs,
    least: Date.parse("0000-01-01T00:00:00.000Z"),
    most: Date.parse("9999-12-31T00:00:00.000Z"),
    write: (ms) => new Date(ms).toISOString().slice(0, 10),
  },
  time: {
    step: 1,
    least: Date.parse("0000-01-01T00:00:00.000Z"),
    most: Date.parse("9999-12-31T23:59:59.999Z"),
    write: (ms) => new Date(ms).toISOString(),
  },
  millis: { step: 1, least: -maxUnixMillis, most: maxUnixMillis, write: (ms) => ms },
};

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
