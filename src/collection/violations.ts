/** From Ajv's errors to violations: where in the content, which rule, and what would be right. */

import type { ErrorObject } from "ajv/dist/2020.js";
import type { Violation } from "../errors.ts";
import { encodeFragment, formatPointer } from "../json/pointer.ts";
import { detailOf } from "./details.ts";
import { formatOf } from "./formats.ts";
import type { Schema } from "./keywords.ts";
import { createSuggest, type Suggest } from "./nearest.ts";

/** More than so many would help nobody. */
const maxViolations = 50;

/** What each closed schema knows, by the schema. */
export type KnownNames = ReadonlyMap<Schema, readonly string[]>;

/** The violations in a list of errors, at most 50. */
export function toViolations(errors: readonly ErrorObject[], known: KnownNames): Violation[] {
  const relevant = withoutEchoes(errors);
  // A branch that fails evaluates nothing, and leaves declared attributes looking unknown beside the real fault.
  const faults = relevant.filter((error) => !isKnownName(error, known));
  const seen = new Set<string>();
  const violations: Violation[] = [];
  const suggest = createSuggest();
  for (const error of faults.length > 0 ? faults : relevant) {
    const violation = toViolation(error, known, suggest);
    const key = `${violation.pointer} ${violation.code} ${violation.detail}`;
    if (seen.has(key)) continue;
    seen.add(key);
    violations.push(violation);
    if (violations.length === maxViolations) break;
  }
  return violations;
}

/** Leaves out what another error says already: why each branch of an `anyOf` failed, why an item was not contained. */
function withoutEchoes(errors: readonly ErrorObject[]): readonly ErrorObject[] {
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
  return formatOf(name)?.isDate === true ? "date" : "format";
}

/** The place of a violation, or of the member there that it is about. */
function pointerTo(path: string, member: unknown): string {
  return encodeFragment(typeof member === "string" ? path + formatPointer([member]) : path);
}
