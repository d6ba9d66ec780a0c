/** What a collection declares to be there once: attributes of which no two resources may have the same value. */
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { attributeFacts, type Describing } from "./attributes.ts";
import { formatPath, type Path, parsePath } from "./paths.ts";
import type { Attributes } from "./resource.ts";
import { shown } from "./shown.ts";

/** An attribute of which no two resources have the same value. Absent and null are no values. */
export interface Unique {
  path: Path;
  /** Whether A to Z are the same as a to z. */
  ignoreCase: boolean;
}

/** How a configuration writes it: the name of an attribute, or that with `ignoreCase`. */
export type UniqueDeclaration = string | { readonly attribute: string; readonly ignoreCase?: boolean };

/** A longer value would make the index larger than what it is an index of. */
const maxLength = 500;

/**
 * Reads the option `unique`: `["email", { "attribute": "name", "ignoreCase": true }]`. Throws StartError with every fault, each
 * with its place below `at`, also where the schema does not say that the attribute is one short scalar.
 */
export function readUnique(declared: unknown, at: string, describing: () => Describing): readonly Unique[] {
  if (declared === undefined) return [];
  if (!Array.isArray(declared)) throw new StartError(`${at} must be a list, not ${shown(declared)}.`);
  const seen = new Set<string>();
  return readEach<unknown, Unique>(declared, (item, n) => {
    const place = `${at}[${n}]`;
    const unique = readOne(item, place);
    const name = formatPath(unique.path);
    if (seen.has(name)) throw new StartError(`${place} is in the list twice. Remove one.`);
    seen.add(name);
    requireScalar(unique, place, describing());
    return unique;
  });
}

function readOne(item: unknown, at: string): Unique {
  const isObject = typeof item === "object" && item !== null && !Array.isArray(item);
  const { attribute, ignoreCase = false, ...others } = (isObject ? item : { attribute: item }) as Attributes;
  const path = typeof attribute === "string" ? parsePath(attribute) : undefined;
  const isKnown = typeof ignoreCase === "boolean" && Object.keys(others).length === 0;
  if (path === undefined || !isKnown) {
    throw new StartError(
      `${at} must be an attribute such as "email" or { "attribute": "email", "ignoreCase": true }, not ${shown(item)}.`,
    );
  }
  if (path[0] === "id") throw new StartError(`${at}: ids are always unique. Remove it here.`);
  return { path, ignoreCase };
}

function requireScalar({ path, ignoreCase }: Unique, at: string, collection: Describing): void {
  const facts = attributeFacts(collection, path);
  const types = [...(facts.types ?? [])].filter((type) => type !== "null");
  const [type] = types;
  const name = JSON.stringify(formatPath(path));
  if (types.length !== 1 || type === undefined || type === "array" || type === "object") {
    throw new StartError(
      `${at}: the schema must give ${name} one type: string, number, integer or boolean (and null).`,
    );
  }
  if (type === "string" && !((facts.maxLength ?? Number.POSITIVE_INFINITY) <= maxLength)) {
    throw new StartError(`${at}: the schema must give ${name} a maxLength of ${maxLength} or less.`);
  }
  if (ignoreCase && type !== "string") throw new StartError(`${at}: only strings have upper and lower case.`);
}

/** What is compared of a resource's attribute; `undefined` where it has no value. */
export function uniqueValue(attributes: Attributes, { path, ignoreCase }: Unique): string | undefined {
  let value: unknown = attributes;
  for (const name of path) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isObject || !Object.hasOwn(value as Attributes, name)) return undefined;
    value = (value as Attributes)[name];
  }
  if (value === null || typeof value === "object") return undefined;
  return JSON.stringify(
    ignoreCase && typeof value === "string"
      ? value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
      : value,
  );
}
