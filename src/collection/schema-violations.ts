/** Turns the errors of Ajv into violations: the place, the keyword that refuses the value, and what would be right. */
import type { ErrorObject } from "ajv/dist/2020.js";
import type { Violation } from "../errors.ts";
import { encodeFragment, formatPointer } from "../json/pointer.ts";
import { formatOf } from "./formats.ts";
import { createSuggest, type Suggest } from "./messages.ts";
import type { Schema } from "./subschemas.ts";

/** A response with more violations helps no client. Each of them repeats the names of the attributes that lead to its place. */
const most = { violations: 50, text: 65_536 } as const;

/** The attributes that each closed schema allows. */
export type KnownNames = ReadonlyMap<Schema, readonly string[]>;

/** The violations for the errors of Ajv, at most 50. */
export function toViolations(errors: readonly ErrorObject[], known: KnownNames): Violation[] {
  const relevant = withoutRepeats(errors);
  // If a branch fails, Ajv reports its declared attributes as unknown, in addition to the real error.
  const faults = relevant.filter((error) => !isKnownName(error, known));
  const seen = new Set<string>();
  const violations: Violation[] = [];
  const suggest = createSuggest();
  let text = 0;
  for (const error of faults.length > 0 ? faults : relevant) {
    const violation = toViolation(error, known, suggest);
    const key = `${violation.pointer} ${violation.code} ${violation.detail}`;
    if (seen.has(key)) continue;
    seen.add(key);
    violations.push(violation);
    text += key.length;
    if (violations.length === most.violations || text > most.text) break;
  }
  return violations;
}

/** Removes errors that repeat another error, such as why each branch of an `anyOf` failed. */
function withoutRepeats(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const summaries = new Set(
    errors.filter(({ keyword }) => isSummary(keyword)).map(({ schemaPath }) => schemaPath),
  );
  const left = errors.filter(
    ({ keyword, propertyName, schemaPath }) =>
      propertyName === undefined && keyword !== "if" && !isBelow(schemaPath, summaries),
  );
  return left.length > 0 ? left : errors;
}

function isSummary(keyword: string): boolean {
  return keyword === "anyOf" || keyword === "oneOf" || keyword === "contains" || keyword === "not";
}

function isBelow(path: string, summaries: ReadonlySet<string>): boolean {
  if (summaries.size === 0) return false;
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (summaries.has(path.slice(0, end))) return true;
  }
  return false;
}

function isKnownName(error: ErrorObject, known: KnownNames): boolean {
  const name = unknownNameOf(error);
  return name !== undefined && (known.get(error.parentSchema as Schema)?.includes(name) ?? false);
}

function toViolation(error: ErrorObject, known: KnownNames, suggest: Suggest): Violation {
  const { keyword, instancePath, params } = error;
  const unknownName = unknownNameOf(error);
  if (unknownName !== undefined) {
    const pointer = pointerTo(instancePath, unknownName);
    const detail = unknownDetail(unknownName, known.get(error.parentSchema as Schema) ?? [], suggest);
    return { in: "body", pointer, code: "unknownAttribute", detail };
  }
  const member = params.missingProperty ?? params.propertyName;
  return {
    in: "body",
    pointer: pointerTo(instancePath, member),
    code: keyword === "format" ? formatCode(String(error.schema)) : keyword,
    detail: detailOf(error),
  };
}

function unknownNameOf({ params }: ErrorObject): string | undefined {
  return params.additionalProperty ?? params.unevaluatedProperty;
}

function unknownDetail(name: string, names: readonly string[], suggest: Suggest): string {
  if (names.includes(name)) return "is not allowed together with these other attributes";
  return `is not an attribute of the schema.${suggest(name, () => names)}`.replace(/\.$/, "");
}

function formatCode(name: string): string {
  return formatOf(name)?.code ?? "format";
}

/** The pointer to a value, or to one of its members. */
function pointerTo(path: string, member: unknown): string {
  return encodeFragment(typeof member === "string" ? path + formatPointer([member]) : path);
}

/** The most characters that a message contains of a value in the schema. */
const maxLength = 200;

/** Completes a sentence that begins with the attribute: “must have at least 1 character”. */
export function detailOf(error: ErrorObject): string {
  return (
    details[error.keyword]?.(String(error.schema), error) ?? `must match "${error.keyword}" in the schema`
  );
}

/** The detail for each keyword. `limit` is the value of the keyword in the schema. */
const details: Readonly<Record<string, (limit: string, error: ErrorObject) => string>> = {
  type: (_, { schema }) => `must be ${[schema].flat().map(typeInWords).join(" or ")}`,
  minLength: (limit) => `must have at least ${plural(limit, "character")}`,
  maxLength: (limit) => `must have at most ${plural(limit, "character")}`,
  pattern: (limit) => `must match the pattern ${shorten(limit)}`,
  format: (limit) => `must be ${formatOf(limit)?.expected ?? limit}`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be greater than ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  multipleOf: (limit) => `must be a multiple of ${limit}`,
  minItems: (limit) => `must have at least ${plural(limit, "item")}`,
  maxItems: (limit) => `must have at most ${plural(limit, "item")}`,
  uniqueItems: () => "must not contain the same item twice",
  minProperties: (limit) => `must have at least ${plural(limit, "attribute")}`,
  maxProperties: (limit) => `must have at most ${plural(limit, "attribute")}`,
  required: () => "is required",
  dependentRequired: (_, { params }) => `is required when ${JSON.stringify(params.property)} is present`,
  propertyNames: () => "is not an allowed attribute name",
  enum: (_, { schema }) =>
    `must be one of ${shorten((schema as unknown[]).map((each) => JSON.stringify(each)).join(", "))}`,
  const: (_, { schema }) => `must be ${shorten(JSON.stringify(schema))}`,
  contains: (_, { params }) =>
    `must have at least ${plural(String(params.minContains), "item")} of the kind that the schema requires${upTo(params.maxContains)}`,
  items: (_, { params }) => `must have at most ${plural(String(params.limit), "item")}`,
  anyOf: () => "must match at least one of the schema's alternatives",
  oneOf: (_, { params }) =>
    params.passingSchemas === null
      ? "must match one of the schema's alternatives"
      : "must match only one of the schema's alternatives, but matches several",
  not: () => "must not match what the schema excludes",
  if: (_, { params }) => `must match "${params.failingKeyword}" in the schema, which applies in this case`,
  "false schema": () => "is not allowed",
};

const typeWords: Record<string, string> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  null: "null",
};

function typeInWords(type: unknown): string {
  return typeWords[String(type)] ?? String(type);
}

function plural(count: string, noun: string): string {
  return `${count} ${noun}${count === "1" ? "" : "s"}`;
}

function upTo(most: unknown): string {
  return most === undefined ? "" : `, and at most ${most}`;
}

function shorten(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
