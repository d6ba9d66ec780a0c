/** The values that unique attributes compare, and the filters that say which resources they compare. */
import type { Collection } from "../collection/collection.ts";
import { foldCase, foldText } from "../collection/folding.ts";
import { shortJson } from "../collection/messages.ts";
import { type Path, valueAt } from "../collection/paths.ts";
import { lowerAscii } from "../collection/text-comparison.ts";
import { comparedKeyOf } from "../collection/types/declared-types.ts";
import type { Unique, UniquePart, UniqueWhere } from "../collection/unique.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { readDeclaredFilter, requireValidFilter } from "./declared-filter.ts";
import { type Filter, isRelative, leavesOf, matches, matchesAll, ownPathsOf } from "./filter.ts";

/**
 * The text by which a resource (with its `id`) is compared; `undefined` if it cannot conflict, because an attribute is absent or null,
 * or because the filter does not match.
 */
export function uniqueValue(resource: Record<string, unknown>, unique: Unique): string | undefined {
  const { others, where } = unique;
  if (where !== undefined && !matches(where.filter as Filter, resource)) return undefined;
  const first = valueAtPart(resource, unique, unique);
  if (others === undefined || first === undefined) return first;
  const values = [first];
  for (const each of others) {
    const value = valueAtPart(resource, each, unique);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return `[${values.join()}]`;
}

function valueAtPart(
  resource: Record<string, unknown>,
  { path, as }: UniquePart,
  unique: Unique,
): string | undefined {
  const value = valueAt(resource, path);
  const key = as && comparedKeyOf(value, as);
  if (key !== undefined) return JSON.stringify(key);
  if (value === null || typeof value === "object") return undefined;
  return JSON.stringify(typeof value === "string" ? comparedText(value, unique) : value);
}

function comparedText(text: string, { ignoreCase, ignore }: Unique): string {
  if (ignore === "accents") return foldText(text);
  if (ignore === "case") return foldCase(text);
  return ignoreCase ? lowerAscii(text) : text;
}

/** Reads the filter of a unique attribute. Throws StartError with every fault, each with the place `at`. */
export function readUniqueWhere(declared: unknown, at: string, collection: Collection): UniqueWhere {
  const ofCaller = textsIn(declared).find((text) => /^\$(?:subject$|claims\.)/.test(text));
  if (ofCaller !== undefined)
    throw new StartError(
      `${at}: "where" is the same for all callers, so it cannot contain ${shortJson(ofCaller)}.`,
    );
  const read = readDeclaredFilter(declared, collection);
  requireValidFilter(read, { at, collection, user: "unique attributes" });
  const { filter } = read;
  if (matchesAll(filter)) throw new StartError(`${at}: "where" is true for every resource. Leave it out.`);
  if (isRelative(filter))
    throw new StartError(
      `${at}: "where" cannot compare with the present time, because values are compared when a resource changes. Write a time that stays the same.`,
    );
  const names = new Map(
    leavesOf(filter)
      .flatMap(ownPathsOf)
      .map((path): [string, Path] => [JSON.stringify(path), path]),
  );
  return {
    declared: declared as object,
    paths: [...names.values()],
    // Stores keep it as JSON, where no member is `undefined`.
    filter: JSON.parse(JSON.stringify(filter)),
  };
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
