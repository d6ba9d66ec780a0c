/** Values that an attribute can never have. A filter that compares with one finds nothing, so it is probably misspelled. */
import type { ErrorObject } from "ajv/dist/2020.js";
import { isObject } from "../json/values.ts";
import { typeOf } from "./attributes.ts";
import { formatOf } from "./formats.ts";
import type { Pattern } from "./patterns.ts";
import { detailOf } from "./schema-violations.ts";
import { alwaysWith, type ResolveRef, type Schema } from "./subschemas.ts";

/** Why a value can never occur, and the texts that can occur instead if the schema lists them. */
export interface Never {
  /** Completes a sentence that begins with the attribute: “must be at most 3”. */
  detail: string;
  known: readonly string[];
}

/**
 * Why no value that fits all of these schemas is equal to `value`, which is not an array or object; `undefined` if one can be.
 * Conditions (`if`, `not`) count as fulfilled.
 */
export function whyNever(
  schemas: readonly unknown[],
  value: unknown,
  resolve: ResolveRef,
  seen: ReadonlySet<unknown> = new Set(),
): Never | undefined {
  for (const schema of schemas) {
    const why = isObject(schema) && !seen.has(schema) ? refusal(schema, value, resolve, seen) : undefined;
    if (why !== undefined) return why;
  }
  return schemas.includes(false) ? { detail: "cannot exist", known: [] } : undefined;
}

function refusal(
  schema: Schema,
  value: unknown,
  resolve: ResolveRef,
  seen: ReadonlySet<unknown>,
): Never | undefined {
  const keyword = Object.keys(checks).find(
    (name) => Object.hasOwn(schema, name) && checks[name]?.(schema[name], value) === false,
  );
  if (keyword !== undefined) {
    const limit = schema[keyword];
    const error = { keyword, schema: limit, params: {} } as ErrorObject;
    const listed = keyword === "enum" && Array.isArray(limit) ? limit : [];
    return { detail: detailOf(error), known: listed.filter((each) => typeof each === "string") };
  }
  const inner = new Set([...seen, schema]);
  const { anyOf, oneOf } = schema;
  const why = whyNever(alwaysWith(schema, resolve), value, resolve, inner);
  if (why !== undefined) return why;
  for (const branches of [anyOf, oneOf]) {
    if (!Array.isArray(branches)) continue;
    const refusals = branches.map((each) => whyNever([each], value, resolve, inner));
    // The reason of a branch that is for values of this type says more than that of a branch for others.
    if (refusals.every((each) => each !== undefined))
      return refusals.find((_, n) => takes(branches[n], value)) ?? refusals[0];
  }
  return undefined;
}

/** Whether a branch is for values of this type, as far as the branch itself says. */
function takes(branch: unknown, value: unknown): boolean {
  return !isObject(branch) || !Object.hasOwn(branch, "type") || checks.type?.(branch.type, value) === true;
}

/**
 * The longest text that is tested against a pattern, in characters. Longer texts count as possible: a filter can have a thousand of
 * them, and a test takes about half a microsecond for each character.
 */
const longestTested = 100;

/** Compiles a pattern. The engine of patterns is slow to load, so only a collection with a schema loads it. */
let patternOf: ((source: string) => Pattern) | undefined;

/** Sets how patterns are compiled. Until then, every text fits every pattern. */
export function setPatterns(compile: (source: string) => Pattern): void {
  patternOf = compile;
}

/** Whether a value fits a keyword for scalars. */
const checks: Readonly<Record<string, (limit: unknown, value: unknown) => boolean>> = {
  type: (limit, value) =>
    [limit].flat().some((type) => type === typeOf(value) || (type === "integer" && Number.isInteger(value))),
  enum: (limit, value) => !Array.isArray(limit) || limit.includes(value),
  const: (limit, value) => limit === value,
  minimum: ofNumbers((value, limit) => value >= limit),
  maximum: ofNumbers((value, limit) => value <= limit),
  exclusiveMinimum: ofNumbers((value, limit) => value > limit),
  exclusiveMaximum: ofNumbers((value, limit) => value < limit),
  minLength: ofTexts((text, limit) => text.length >= limit && [...text].length >= limit),
  maxLength: ofTexts((text, limit) => text.length <= limit || [...text].length <= limit),
  multipleOf: ofNumbers(isMultiple),
  pattern: (limit, value) =>
    typeof value !== "string" ||
    typeof limit !== "string" ||
    value.length > longestTested ||
    patternOf?.(limit).test(value) !== false,
  format: (limit, value) => formatOf(String(limit))?.test(value) ?? true,
};

function ofNumbers(fits: (value: number, limit: number) => boolean) {
  return (limit: unknown, value: unknown) =>
    typeof value !== "number" || typeof limit !== "number" || fits(value, limit);
}

function ofTexts(fits: (text: string, limit: number) => boolean) {
  return (limit: unknown, value: unknown) =>
    typeof value !== "string" || typeof limit !== "number" || fits(value, limit);
}

/** Compares as in decimal: 19.99 is a multiple of 0.01, although the quotient is 1998.9999999999998. */
export function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  const whole = Math.round(quotient);
  if (whole === 0) return value === 0;
  return Number.isFinite(quotient) && Math.abs(quotient - whole) <= Math.abs(whole) * 2 * Number.EPSILON;
}
