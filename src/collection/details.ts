/** What is wrong, in words for people: one sentence for each keyword, without its subject. */
import type { ErrorObject } from "ajv/dist/2020.js";
import { formatOf } from "./formats.ts";

/** How much of a value of the schema a sentence shows. */
const maxShown = 200;

/** Completes a sentence that begins with the attribute: “must have at least 1 character”. */
export function detailOf({ keyword, schema, params }: ErrorObject): string {
  const limit = String(schema);
  switch (keyword) {
    case "type":
      return `must be ${[schema].flat().map(typeInWords).join(" or ")}`;
    case "minLength":
      return `must have at least ${plural(limit, "character")}`;
    case "maxLength":
      return `must have at most ${plural(limit, "character")}`;
    case "pattern":
      return `must match the pattern ${shorten(limit)}`;
    case "format":
      return `must be ${formatOf(limit)?.asks ?? limit}`;
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "exclusiveMinimum":
      return `must be greater than ${limit}`;
    case "exclusiveMaximum":
      return `must be less than ${limit}`;
    case "multipleOf":
      return `must be a multiple of ${limit}`;
    case "minItems":
      return `must have at least ${plural(limit, "item")}`;
    case "maxItems":
      return `must have at most ${plural(limit, "item")}`;
    case "uniqueItems":
      return "must not contain the same item twice";
    case "minProperties":
      return `must have at least ${plural(limit, "attribute")}`;
    case "maxProperties":
      return `must have at most ${plural(limit, "attribute")}`;
    case "required":
      return "is required";
    case "dependentRequired":
      return `is required when ${JSON.stringify(params.property)} is present`;
    case "propertyNames":
      return "is not an allowed attribute name";
    case "enum":
      return `must be one of ${shorten((schema as unknown[]).map((each) => JSON.stringify(each)).join(", "))}`;
    case "const":
      return `must be ${shorten(JSON.stringify(schema))}`;
    case "contains":
      return `must have at least ${plural(String(params.minContains), "item")} of the kind that the schema requires${upTo(params.maxContains)}`;
    case "items":
      return `must have at most ${plural(String(params.limit), "item")}`;
    case "anyOf":
      return "must match at least one of the schema's alternatives";
    case "oneOf":
      return params.passingSchemas === null
        ? "must match one of the schema's alternatives"
        : "must match only one of the schema's alternatives, but matches several";
    case "not":
      return "must not match what the schema excludes";
    case "if":
      return `must match "${params.failingKeyword}" in the schema, which applies in this case`;
    case "false schema":
      return "is not allowed";
    default:
      return `must match "${keyword}" in the schema`;
  }
}

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
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`;
}
