/** Unique attributes: no two resources of a collection can have the same value. */
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { type AttributeInfo, type AttributeSource, attributeInfo } from "./attributes.ts";
import { comparedAs, readDistinct } from "./indexes.ts";
import { instantKeyOf } from "./instants.ts";
import { mustBe } from "./messages.ts";
import { formatPath, type Path, parsePath, valueAt } from "./paths.ts";
import type { Attributes } from "./resource.ts";
import { lowerAscii } from "./text-comparison.ts";

/** A unique attribute. Any number of resources can lack it or have null. */
export interface Unique {
  path: Path;
  /** Whether ASCII letters are equal in upper and lower case. */
  ignoreCase: boolean;
  /** The schema declares a date: all forms of an instant are equal. */
  as?: "date";
}

/** A unique attribute in a configuration: its name, alone or with `ignoreCase`. */
export type UniqueDeclaration = string | { readonly attribute: string; readonly ignoreCase?: boolean };

/** With longer values, the index could become larger than the collection. */
const maxLength = 500;

/**
 * Reads the option `unique`: `["email", { "attribute": "name", "ignoreCase": true }]`. Throws StartError with every fault, each
 * with its place below `at`. The schema must declare that the attribute is a date or a short scalar of one type.
 */
export function readUnique(declared: unknown, at: string, source: () => AttributeSource): readonly Unique[] {
  const read = (item: unknown, place: string) => {
    const unique = readOne(item, place);
    const info = attributeInfo(source(), unique.path);
    requireScalar(unique, place, info);
    return { ...unique, ...comparedAs(info) };
  };
  return readDistinct(declared, at, read, ({ path }) => formatPath(path));
}

function readOne(item: unknown, at: string): Unique {
  const { attribute, ignoreCase = false, ...others } = isObject(item) ? item : { attribute: item };
  const path = typeof attribute === "string" ? parsePath(attribute) : undefined;
  const isKnown = typeof ignoreCase === "boolean" && Object.keys(others).length === 0;
  if (path === undefined || !isKnown) {
    const expected = 'an attribute such as "email" or { "attribute": "email", "ignoreCase": true }';
    throw mustBe(at, expected, item);
  }
  if (path[0] === "id") throw new StartError(`${at}: ids are always unique. Remove it here.`);
  return { path, ignoreCase };
}

function requireScalar({ path, ignoreCase }: Unique, at: string, info: AttributeInfo): void {
  const types = [...(info.types ?? [])].filter((type) => type !== "null");
  const [type] = types;
  const isDate = info.dates !== undefined && types.length > 0;
  if (isDate && !ignoreCase && types.every((each) => each === "string" || each === "number")) return;
  const name = JSON.stringify(formatPath(path));
  if (types.length !== 1 || type === undefined || type === "array" || type === "object") {
    throw new StartError(
      `${at}: the schema must give ${name} one type: string, number, integer or boolean (and null).`,
    );
  }
  if (type === "string" && !((info.maxLength ?? Number.POSITIVE_INFINITY) <= maxLength)) {
    throw new StartError(`${at}: the schema must give ${name} a maxLength of ${maxLength} or less.`);
  }
  if (ignoreCase && type !== "string") throw new StartError(`${at}: only strings have upper and lower case.`);
}

/** The text by which values of a unique attribute are compared; `undefined` if the attribute is absent or null. */
export function uniqueValue(attributes: Attributes, { path, ignoreCase, as }: Unique): string | undefined {
  const value = valueAt(attributes, path);
  const instant = as && instantKeyOf(value, as);
  if (instant !== undefined) return JSON.stringify(instant);
  if (value === null || typeof value === "object") return undefined;
  return JSON.stringify(ignoreCase && typeof value === "string" ? lowerAscii(value) : value);
}
