/** Finds conditions that can never match because of the schema. The service refuses them. */

import type { ErrorObject } from "ajv/dist/2020.js";
import { type AttributeType, typeOf } from "../collection/attributes.ts";
import { shortJson } from "../collection/messages.ts";
import { type Never, whyNever } from "../collection/possible.ts";
import { detailOf } from "../collection/schema-violations.ts";
import { alwaysWith, itemsOf, type ResolveRef } from "../collection/subschemas.ts";
import { isObject } from "../json/values.ts";
import { conditionTable, type Scalar } from "./conditions.ts";
import { type OperatorName, operators } from "./operators.ts";
import type { Attribute, Reading } from "./reading.ts";
import type { Location } from "./violations.ts";

const typeNames: Record<AttributeType, string> = {
  null: "null",
  boolean: "true or false",
  number: "a number",
  string: "a string",
  array: "an array",
  object: "an object",
};

/** The comparison of an attribute with one value. */
export interface Comparison {
  operator: OperatorName;
  attribute: Attribute;
  /** The value as the client wrote it. */
  written: Scalar;
  /** All values that `written` can mean, if the attribute can have them. */
  values: readonly Scalar[];
}

/** Adds a violation if the comparison can never match. */
export function checkComparison(comparison: Comparison, location: Location, reading: Reading): void {
  const { violations, unjudged } = reading;
  const why = whyImpossible(comparison);
  if (why !== undefined) violations.add(location, "type", why);
  else if (unjudged?.has(comparison.written) !== true) {
    const never = neverOf(comparison);
    if (never === undefined) return;
    const { written } = comparison;
    violations.add(location, "value", () => {
      const nearest = typeof written === "string" ? violations.suggest(written, () => never.known) : "";
      return `${never.detail}, not ${shortJson(written)}${nearest === "" ? "" : `.${nearest}`}`;
    });
  }
}

/** Why the schema allows none of the values, if the operator looks for an equal value. */
function neverOf({ operator, attribute, written, values }: Comparison): Never | undefined {
  const { types, idKind, fits } = attribute;
  if (fits === undefined || idKind !== undefined || values.length === 0) return undefined;
  const { kind } = operators[operator];
  if (kind === "in" ? written === null || written === "null" : kind !== "contains") return undefined;
  const { schemas, resolve } = fits;
  if (kind === "in") return whyNone(values, schemas, resolve);
  const others = [...(types ?? ["string" as const])].some((type) => type !== "array" && type !== "null");
  return others ? undefined : whyNone(values, itemsOf(schemas, resolve), resolve);
}

/**
 * Adds a violation if the schema lists the values of an attribute, and none of them means the same as the one that the client wrote.
 * `key`: that of what the client wrote; `undefined` if it has none. `keyOf`: the key by which values are compared, such as that of an exact
 * number.
 */
export function checkListed(
  { operator, attribute: { fits }, written }: Pick<Comparison, "operator" | "attribute" | "written">,
  { key, keyOf }: { key: string | undefined; keyOf: (value: unknown) => string | undefined },
  location: Location,
  { violations, unjudged }: Reading,
): void {
  if (operators[operator].kind !== "in" || fits === undefined || key === undefined) return;
  if (unjudged?.has(written) === true) return;
  const { schemas, resolve } = fits;
  const all = schemas.flatMap((each) => (isObject(each) ? [each, ...alwaysWith(each, resolve)] : []));
  for (const schema of all)
    for (const keyword of ["enum", "const"]) {
      if (!isObject(schema) || !Object.hasOwn(schema, keyword)) continue;
      const limit = schema[keyword];
      if ([limit].flat().some((each) => keyOf(each) === key)) continue;
      const error = { keyword, schema: limit, params: {} } as ErrorObject;
      violations.add(location, "value", () => `${detailOf(error)}, not ${shortJson(written)}`);
      return;
    }
}

function whyNone(
  values: readonly Scalar[],
  schemas: readonly unknown[],
  resolve: ResolveRef,
): Never | undefined {
  const reasons = values.map((value) => whyNever(schemas, value, resolve));
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Why the comparison can never match because of its types; `undefined` if it can. Every attribute can be compared with null. */
function whyImpossible(comparison: Comparison): string | undefined {
  const { operator, attribute, written, values } = comparison;
  const { types, idKind } = attribute;
  if (types === undefined || idKind !== undefined) return undefined;
  if (operators[operator].kind === "in" && (written === null || written === "null")) return undefined;
  const takes = conditionTable[operators[operator].kind].types.filter((type) => types.has(type));
  if (takes.length === 0) return `is ${naming(types)}, which ${adviceFor(comparison)}`;
  if (takes.includes("array")) return undefined;
  if (values.some((value) => types.has(typeOf(value)))) return undefined;
  return `is ${naming(types)} and cannot be compared with ${shortJson(written)}`;
}

function adviceFor({ operator, attribute: { types } }: Comparison): string {
  if (types?.has("array") === true) return `"${operator}" never matches: use "contains" to look for an item`;
  if (types?.has("object") === true)
    return `"${operator}" never matches: use a dot to name an attribute in it`;
  return `"${operator}" never matches`;
}

function naming(types: ReadonlySet<AttributeType>): string {
  return [...types].map((type) => typeNames[type]).join(" or ");
}
