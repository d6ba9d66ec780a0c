/**
 * The context in which a list request is read: its collection, its limits and its violations. Reads the attributes that the
 * request names, and refuses those that cannot exist or that the caller cannot see.
 */
import { type AttributeInfo, type AttributeType, attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { timeOf } from "../collection/dates.ts";
import type { IdKind } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, isIdPath, type Path, parsePath } from "../collection/paths.ts";
import { hintFor } from "./foreign-parameters.ts";
import { listParameters, type Parameters } from "./parameters.ts";
import type { Location, Violations } from "./violations.ts";

/** The limits of one filter. Each of them limits the work of a store. */
export const filterLimits = {
  conditions: 100,
  groups: 100,
  depth: 10,
  values: 1_000,
  pathNames: 64,
  nameLength: 1_000,
} as const;

/** The number of conditions, groups (`and`, `or`, `not`) and values in a filter. */
export interface FilterSize {
  conditions: number;
  groups: number;
  values: number;
}

/** The size of a filter before anything is read. */
export function emptyFilterSize(): FilterSize {
  return { conditions: 0, groups: 0, values: 0 };
}

/** The context of one request. */
export interface Reading {
  collection: Collection;
  violations: Violations;
  /** The size of the filter so far. */
  used: FilterSize;
  /** The parameters of the query string. Only hints use them. */
  parameters?: Parameters;
}

/** An attribute that a request names. */
export interface Attribute {
  path: Path;
  /** The types that it can have; `undefined`: any. */
  types: ReadonlySet<AttributeType> | undefined;
  /** The kind of ids, if the attribute is `id`. */
  idKind: IdKind | undefined;
}

/** The attribute with this name. If it cannot exist, adds a violation and returns `undefined`. */
export function readAttribute(name: string, location: Location, reading: Reading): Attribute | undefined {
  const { collection, violations } = reading;
  if (violations.isFull) return undefined;
  if (name.length > filterLimits.nameLength) {
    const most = filterLimits.nameLength.toLocaleString("en");
    violations.add(location, "attribute", `must name an attribute of at most ${most} characters`);
    return undefined;
  }
  const path = readPath(name);
  if (path === undefined) {
    violations.add(
      location,
      "attribute",
      `${naming(name, location)}is not a valid attribute name. Valid names look like "title" or "author.name"`,
    );
    return undefined;
  }
  const { types, alternatives } = visibleAttributeInfo(collection, path);
  if (alternatives === undefined) {
    return { path, types, idKind: isIdPath(path) ? collection.idKind : undefined };
  }
  violations.add(location, "unknownAttribute", () =>
    unknownAttribute(name, location, { ...reading, path, alternatives }),
  );
  return undefined;
}

/** Reads a path; `undefined` if it is invalid or too long. */
export function readPath(name: string): Path | undefined {
  const path = parsePath(name);
  return path === undefined || path.length > filterLimits.pathNames ? undefined : path;
}

/** A path that no schema declares. */
const unknownPath: Path = ["\0"];

/** Like `attributeInfo`, but the attributes that the caller cannot see do not exist. */
export function visibleAttributeInfo(collection: Collection, path: Path): AttributeInfo {
  const hidden = collection.visibility?.hidden;
  if (hidden === undefined || hidden.size === 0) return attributeInfo(collection, path);
  const isHidden = hidden.has(path[0]);
  const info = attributeInfo(collection, isHidden ? unknownPath : path);
  if (info.alternatives === undefined) return isHidden ? { ...info, alternatives: ["id"] } : info;
  return { ...info, alternatives: info.alternatives.filter((name) => !hidden.has(name)) };
}

function unknownAttribute(
  name: string,
  location: Location,
  {
    collection,
    violations,
    parameters,
    path,
    alternatives,
  }: Reading & { path: Path; alternatives: readonly string[] },
): string {
  const what = `${naming(name, location)}is not an attribute of "${collection.name}".`;
  const texts = parameters?.filters.get(location.name);
  const hint =
    parameters === undefined || texts === undefined ? "" : hintFor(location.name, texts, parameters.others);
  if (hint !== "") return what + hint;
  const depth = knownDepth(collection, path);
  const start = path
    .slice(0, depth)
    .map((each) => `${each}.`)
    .join("");
  if (alternatives.length === 0) return `${what} ${shortJson(start.slice(0, -1))} has no nested attributes`;
  const known = alternatives.map((each) => start + each);
  const isParameter = location.in === "query" && location.path.length === 0;
  const wrong = formatPath(path.slice(0, depth + 1) as unknown as Path);
  const nearest = violations.suggest(wrong, () => (isParameter ? [...known, ...listParameters] : known));
  if (nearest !== "") return what + nearest;
  return known.length > maxListed ? what : `${what} Known names: ${known.join(", ")}`;
}

const maxListed = 30;

/** The number of names at the start of a path that can exist. */
function knownDepth(collection: Collection, path: Path): number {
  for (let depth = 1; depth < path.length; depth++) {
    const [first, ...rest] = path.slice(0, depth) as unknown as Path;
    if (visibleAttributeInfo(collection, [first, ...rest]).alternatives !== undefined) return depth - 1;
  }
  return path.length - 1;
}

/** The start of a message that names the attribute; empty if the location already names it. */
function naming(name: string, location: Location): string {
  return (location.path.at(-1) ?? location.name) === name ? "" : `names ${shortJson(name)}, which `;
}

const maxFields = 1_000;

/** The attributes of the parameter `fields`, and `id`. Adds violations. */
export function readFieldNames(
  names: readonly string[],
  location: Location,
  reading: Reading,
): readonly string[] {
  const fields = new Set(["id"]);
  if (names.length > maxFields) {
    reading.violations.add(
      location,
      "fields",
      `must name at most ${maxFields.toLocaleString("en")} attributes`,
    );
    return [];
  }
  for (const name of names) {
    const attribute = readAttribute(name, location, reading);
    if (attribute === undefined) continue;
    const [top] = attribute.path;
    if (attribute.path.length === 1) fields.add(top);
    else
      reading.violations.add(
        location,
        "fields",
        `names ${shortJson(name)}, but takes only whole attributes, such as ${shortJson(top)}`,
      );
  }
  return [...fields];
}

/** Reads a time in Unix milliseconds; `undefined` if it is absent. Adds a violation for a value that is no date value. */
export function readTime(value: unknown, location: Location, violations: Violations): number | undefined {
  if (value === undefined) return undefined;
  const time = typeof value === "string" || typeof value === "number" ? timeOf(String(value)) : undefined;
  if (time === undefined)
    violations.add(
      location,
      "dateValue",
      `must be a date value such as 2026-01-31, 2026-01-31T08:30:00.000Z or 1769848200000, not ${shortJson(value)}`,
    );
  return time;
}

/** Reads a value that must be one of these words; `undefined` if it is absent. Adds a violation for any other value. */
export function readWord<Word extends string | boolean>(
  value: unknown,
  location: Location,
  { words, violations }: { words: readonly Word[]; violations: Violations },
): Word | undefined {
  const word = words.find((each) => each === value);
  if (value !== undefined && word === undefined)
    violations.add(location, "value", `must be ${words.join(" or ")}, not ${shortJson(value)}`);
  return word;
}
