/**
 * Finds the attribute of each column of a CSV input, and makes the text of a resource from a row. `read-csv.ts` finds the rows, and
 * `cells.ts` reads the cells.
 */
import { type AttributeInfo, attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { withoutGuard } from "../collection/formula-guard.ts";
import { suggest } from "../collection/messages.ts";
import { findOverlap, formatPath, isIdPath, type Path, parsePath } from "../collection/paths.ts";
import { StartError } from "../errors.ts";
import { countNames } from "../json/pointer.ts";
import type { JsonLimits } from "../json/values.ts";
import type { Cell } from "./cells.ts";
import type { Advice } from "./items.ts";
import type { IdMember } from "./options.ts";

/** The attribute of one column, and what the schema allows for it. */
export interface Column {
  path: Path;
  info: AttributeInfo;
}

/** How to read the first row. `read-csv.ts` describes the members. */
export interface HeaderOptions {
  collection: Collection;
  delimiter?: string | undefined;
  limits?: JsonLimits | undefined;
  id?: IdMember | undefined;
  advice: Advice;
}

/**
 * The columns that the first row names. Throws StartError if a name cannot be an attribute of the collection, or if it
 * occurs twice.
 */
export function readHeader(
  header: readonly Cell[],
  { collection, delimiter, limits, id, advice }: HeaderOptions,
): readonly Column[] {
  requireDelimiter(header, delimiter, advice);
  const names = withIdColumn(
    header.map(({ text }) => text),
    id,
  );
  if (limits !== undefined) requireWithin(names, limits);
  const columns = names.map((name, index) => readColumn(collection, name, index));
  requireDistinct(columns.map(({ path }) => path));
  return columns;
}

/** The names with `id` in place of the one that has the ids. Throws StartError if none has. */
function withIdColumn(names: readonly string[], id: IdMember | undefined): readonly string[] {
  if (id === undefined || id === "none" || isIdPath(id)) return names;
  const wanted = formatPath(id);
  const place = names.findIndex((name) => withoutGuard(name.trim()) === wanted);
  if (place === -1)
    throw new StartError(`The header does not name ${JSON.stringify(wanted)}. ${suggest(wanted, names)}`);
  return names.with(place, "id");
}

/** Limits the number and the depth of columns, because both make the checks of a header slower. */
function requireWithin(names: readonly string[], { members, depth }: JsonLimits): void {
  if (names.length > members)
    throw new StartError(`The header has ${names.length} columns. The limit is ${members}.`);
  const deep = names.findIndex((name) => name.split(".", depth + 1).length > depth);
  if (deep !== -1)
    throw new StartError(
      `Column ${deep + 1} of the header has more than ${depth} names with dots between them.`,
    );
  const parts = countNames(names, ".");
  if (parts > 2 * members)
    throw new StartError(
      `The columns have ${parts} names with dots between them. The limit is ${2 * members}.`,
    );
}

/**
 * Throws StartError if the header looks like one with another delimiter: it has only one column, or no delimiter was named and a name
 * without quotes contains a semicolon or a tab. A comma that was named is believed.
 */
function requireDelimiter(header: readonly Cell[], delimiter: string | undefined, advice: Advice): void {
  const isIn = (cells: readonly Cell[]) => (each: string) =>
    each !== (delimiter ?? ",") && cells.some(({ text }) => text.includes(each));
  const unquoted = header.filter(({ isQuoted }) => !isQuoted);
  const inNames = delimiter === undefined ? [";", "\t"].find(isIn(unquoted)) : undefined;
  const inOnly =
    header.length === 1 && delimiter !== "," ? [",", ";", "\t", "|"].find(isIn(header)) : undefined;
  const found = inNames ?? inOnly;
  if (found === undefined) return;
  const named = header.find(({ text }) => text.includes(found))?.text;
  const what = header.length === 1 ? "has only one column" : "has a column";
  const advices = [`If ${inWords(found)} separates the columns, ${adviceFor(found, advice)}.`];
  if (delimiter === undefined) advices.push(`If "," separates them, ${adviceFor(",", advice)}.`);
  throw new StartError(`The header ${what}, ${JSON.stringify(named)}. ${advices.join(" ")}`);
}

function inWords(delimiter: string): string {
  return delimiter === "\t" ? "tab" : `"${delimiter}"`;
}

function adviceFor(delimiter: string, advice: Advice): string {
  return advice("delimiter", delimiter === "\t" ? "tab" : delimiter);
}

/** Throws StartError if the names of the header are in quotes, and what follows one of them looks like another delimiter. */
export function refuseQuotedHeader(next: string | undefined, advice: Advice): void {
  if (next === undefined || ![";", "\t", "|", ","].includes(next)) return;
  throw new StartError(
    `The header has ${inWords(next)} behind a name in quotes. If it separates the columns, ${adviceFor(next, advice)}.`,
  );
}

function readColumn(collection: Collection, text: string, index: number): Column {
  const isDeclared = (name: string) => attributeInfo(collection, [name]).isDeclared;
  // Spaces around a name belong to it only if the schema has them too. A dot reaches into an object, unless the
  // schema has an attribute with this exact name.
  const name = isDeclared(withoutGuard(text)) ? withoutGuard(text) : withoutGuard(text.trim());
  const path: Path | undefined = name !== "" && isDeclared(name) ? [name] : parsePath(name);
  if (path === undefined) {
    throw new StartError(`Column ${index + 1} of the header ${whyNoPath(name)}.`);
  }
  requireKnown(collection, path);
  return { path, info: attributeInfo(collection, path) };
}

/** What is wrong with a name that is no path, and what would be right. */
function whyNoPath(name: string): string {
  if (name === "") return "has no name: give it one, or remove the column";
  const parts = name.split(".").filter((part) => part !== "");
  const example = parts.length === 0 ? "" : `, for example to ${JSON.stringify(parts.join(""))}`;
  return `is ${JSON.stringify(name)}, with an empty name before or after a dot. A dot leads into an object: rename the column${example}`;
}

function requireKnown(collection: Collection, path: Path): void {
  const { alternatives, knownDepth = 0 } = attributeInfo(collection, path);
  if (alternatives === undefined) return;
  throw new StartError(
    `The header names "${path.join(".")}", which is not an attribute of ${collection.name}. ${suggest(path[knownDepth] ?? "", alternatives)}`,
  );
}

/** Throws StartError if two columns have the same path, or if one path is a part of another. */
function requireDistinct(paths: readonly Path[]): void {
  const overlap = findOverlap(paths);
  if (overlap === undefined) return;
  const [outer, inner] = [overlap.outer.join("."), overlap.inner.join(".")];
  throw new StartError(
    overlap.outer.length === overlap.inner.length
      ? `The header names "${inner}" twice. Remove one of these columns.`
      : `The header names both "${outer}" and "${inner}", which is part of it. Remove one of these columns.`,
  );
}

/** The JSON texts of values, or the members of an inner object. */
type Members = Map<string, string | Members>;

/**
 * The JSON text of the object that a row describes. `values`: the JSON texts of its cells; `undefined` for one without a value. A path of
 * several names reaches into inner objects.
 */
export function rowText(columns: readonly Column[], values: readonly (string | undefined)[]): string {
  const root: Members = new Map();
  columns.forEach(({ path }, index) => {
    const json = values[index];
    if (json === undefined) return;
    let members = root;
    for (const name of path.slice(0, -1)) members = innerMembers(members, name);
    members.set(path.at(-1) as string, json);
  });
  return membersJson(root);
}

function innerMembers(members: Members, name: string): Members {
  const known = members.get(name);
  const inner = known instanceof Map ? known : new Map();
  members.set(name, inner);
  return inner;
}

function membersJson(members: Members): string {
  const texts = [...members].map(
    ([name, value]) => `${JSON.stringify(name)}:${typeof value === "string" ? value : membersJson(value)}`,
  );
  return `{${texts.join(",")}}`;
}
