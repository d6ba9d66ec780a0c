/** The unique keys of writes: a query such as `email=ada@x.org` names the resource that has these values. */
import { type AttributeInfo, attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, type Path } from "../collection/paths.ts";
import { pathsOf, type Unique } from "../collection/unique.ts";
import { Problem, type Violation } from "../errors.ts";
import { subjectAt, toFragment } from "../json/pointer.ts";
import { operandKeyOf } from "./declared-operands.ts";
import { numberOf } from "./filter-request.ts";
import { pairsOf } from "./list-parameters.ts";
import { uniqueValue } from "./unique-values.ts";
import { inQuery, Violations } from "./violations.ts";

/** The values of a unique attribute, or of a combination. At most one resource has them. */
export interface UniqueKey {
  unique: Unique;
  /** The values as the store compares them (`uniqueValue`). */
  value: string;
}

/**
 * The unique attributes by which a write can name a resource: those without `where`, whose attributes the caller can see. For
 * another, several resources could have the values.
 */
export function keysOf({ unique, visibility }: Pick<Collection, "unique" | "visibility">): readonly Unique[] {
  const isSeen = ([name]: Path) => visibility?.hidden.has(name) !== true;
  return unique.filter((each) => each.where === undefined && pathsOf(each).every(isSeen));
}

/** The unique key with exactly these attributes; `undefined` if the collection has none. */
export function keyNamed(names: Iterable<string>, collection: Collection): Unique | undefined {
  const asked = new Set(names);
  return keysOf(collection).find((each) => {
    const paths = pathsOf(each);
    return paths.length === asked.size && paths.every((path) => asked.has(formatPath(path)));
  });
}

/** The unique keys of a collection, for messages: `"email"; "teamId" and "slug"`. Empty if it has none. */
function listKeys(collection: Collection): string {
  const names = (unique: Unique) => pathsOf(unique).map((path) => shortJson(formatPath(path)));
  return keysOf(collection)
    .map((each) => names(each).join(" and "))
    .join("; ");
}

/** What the name of a unique key must be. Completes a sentence that begins with the place. */
export function whyNoKey(collection: Collection): string {
  const keys = listKeys(collection);
  return keys === ""
    ? "cannot be used: the collection has no unique attributes without a filter"
    : `must name one of these unique keys, with commas between its attributes: ${keys}`;
}

/** Whether a resource has the values of a key. */
export function hasKey(resource: Record<string, unknown>, { unique, value }: UniqueKey): boolean {
  return uniqueValue(resource, unique) === value;
}

/** Reads the key in a query string. Throws INVALID_PARAMETER. If the query names no key, the message lists all keys of the collection. */
export function parseUniqueKey(query: string, collection: Collection): UniqueKey {
  const violations = new Violations();
  const texts = new Map<string, string>();
  for (const [name, text] of pairsOf(query, violations)) {
    if (texts.has(name)) violations.add(inQuery(name), "repeatedParameter", "must be given only once");
    texts.set(name, text);
  }
  violations.throwIfAny();
  const unique = keyNamed(texts.keys(), collection);
  if (unique === undefined) throw noKey([...texts.keys()], collection);
  const resource = Object.create(null) as Record<string, unknown>;
  for (const path of pathsOf(unique)) {
    const name = formatPath(path);
    const info = attributeInfo(collection, path);
    const value = valueIn(texts.get(name) as string, info);
    if (value === undefined) violations.mustBe(inQuery(name), "value", expected(info), texts.get(name));
    else set(resource, path, value);
  }
  violations.throwIfAny();
  return { unique, value: uniqueValue(resource, unique) as string };
}

/** Throws VALIDATION_FAILED unless the content of a PUT has the values of the key in its query. */
export function requireKey(content: Record<string, unknown>, key: UniqueKey): void {
  if (hasKey(content, key)) return;
  const detail = "must have the value that the query names";
  const pointers = pathsOf(key.unique).map(toFragment);
  const [first = "#"] = pointers;
  throw new Problem("VALIDATION_FAILED", `${subjectAt(first, "The resource")} ${detail}.`, {
    violations: pointers.map((pointer): Violation => ({ in: "body", pointer, code: "uniqueKey", detail })),
  });
}

function noKey(names: readonly string[], collection: Collection): Problem {
  const keys = listKeys(collection);
  const detail =
    keys === ""
      ? "cannot name a resource: no unique attribute of the collection can be used"
      : `cannot name a resource. Give exactly one of these unique keys, with "=": ${keys}`;
  const known = new Set(keysOf(collection).flatMap((each) => pathsOf(each).map(formatPath)));
  const name = names.find((each) => !known.has(each)) ?? names[0] ?? "";
  return new Problem("INVALID_PARAMETER", `The query ${detail}.`, {
    violations: [{ in: "query", name, code: "uniqueKey", detail }],
  });
}

/** The value that a text means for a unique attribute, which has one type; `undefined` if it means none. */
function valueIn(text: string, { types, declared }: AttributeInfo): unknown {
  if (text === "null" && types?.has("null") === true) return undefined;
  if (declared !== undefined) {
    if (operandKeyOf(text, declared, true) === undefined) return undefined;
    const { type, forms } = declared;
    const canBeNumber = type.numberForm !== undefined && forms.has(type.numberForm);
    return canBeNumber && /^-?\d+$/.test(text) ? Number(text) : text;
  }
  if (types?.has("string") === true) return text;
  if (types?.has("number") === true) return numberOf(text, true)[0];
  return text === "true" || text === "false" ? text === "true" : undefined;
}

function expected({ types, declared }: AttributeInfo): string {
  if (declared !== undefined) return declared.type.expected;
  if (types?.has("string") === true) return "a text (a resource whose attribute is null has no key)";
  return types?.has("number") === true ? "a number" : "true or false";
}

/** Sets a value in an object without a prototype, in which every name is data. */
function set(object: Record<string, unknown>, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined) return;
  const inner = (object[name] as Record<string, unknown> | undefined) ?? Object.create(null);
  object[name] = rest.length === 0 ? value : inner;
  set(inner, rest, value);
}
