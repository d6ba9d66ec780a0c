/** Reads the options `indexes` and `search`, and checks that the schema allows the attributes that they name. */
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { type AttributeInfo, type AttributeSource, attributeInfo } from "./attributes.ts";
import { foldingVersion } from "./folding.ts";
import { didYouMean, mustBe, shortJson } from "./messages.ts";
import { formatPath, type Path, parsePath } from "./paths.ts";
import type { DeclaredMeaning } from "./types/declared-types.ts";

/** One attribute to sort by. */
export interface SortKey {
  path: Path;
  descending: boolean;
  /**
   * The schema declares a date or an exact number: its values are compared by what they mean. `natural`: texts have natural order.
   */
  as?: DeclaredMeaning | "natural";
  /** Null and absent values come after all others, and in descending order before them. Otherwise it is the other way round. */
  movesNulls?: true;
  /** The attribute is the time at which resources expire. A store keeps this with its index (`expiry.ts`). */
  expires?: true;
  /** In an index with natural order: the version of the folding. */
  folding?: string;
  /** Only keys of lists can be about related resources (`query/sort.ts`). */
  through?: never;
}

/** The sort keys of one index. The store adds the id as the last key. */
export type Index = readonly SortKey[];

/** The most attributes of an index, or of a unique combination. */
export const maxKeys = 5;

/**
 * Reads the option `indexes`: `["name", ["status", "-publishedAt"]]`. Throws StartError with every fault, each with its place
 * below `at`. Without `source`, does not check that the attributes can exist.
 */
export function readIndexes(declared: unknown, at: string, source?: () => AttributeSource): readonly Index[] {
  return readDistinct(declared, at, (item, place) => readIndex(item, place, source));
}

function readIndex(item: unknown, at: string, source: (() => AttributeSource) | undefined): Index {
  const keys = readKeys(item, at);
  if (keys.length === 0 || keys.length > maxKeys) {
    throw new StartError(`${at} must name 1 to ${maxKeys} attributes, not ${keys.length}.`);
  }
  const index = readEach(keys, (key) => {
    const sortKey = readSortKey(key, at);
    if (source === undefined) return sortKey;
    requireAttribute(sortKey.path, at, source());
    const info = attributeInfo(source(), sortKey.path);
    if (sortKey.as === undefined) return { ...sortKey, ...comparedAs(info) };
    if (!canBeNatural(info))
      throw new StartError(`${at}: "${formatPath(sortKey.path)}" has no texts, so it has no natural order.`);
    return sortKey;
  });
  if (index.length + index.filter(({ as }) => as === "natural").length > maxKeys)
    throw new StartError(`${at} is too long: an attribute with natural order counts as two of ${maxKeys}.`);
  if (new Set(index.map(({ path }) => path.join("."))).size < index.length) {
    throw new StartError(`${at} names an attribute twice.`);
  }
  return index;
}

/** The attributes of an item: one, a list, or `{ attributes, order: "natural" }`, which means the same as `:natural` after each. */
function readKeys(item: unknown, at: string): readonly unknown[] {
  if (!isObject(item)) return Array.isArray(item) ? item : [item];
  const { attributes, order, ...unknown } = item;
  if (!Array.isArray(attributes) || order !== "natural" || Object.keys(unknown).length > 0)
    throw mustBe(at, 'an attribute, a list of them, or { "attributes": ["name"], "order": "natural" }', item);
  return attributes.map((key: unknown) => (typeof key === "string" ? key + naturalSuffix : key));
}

/** The end of the name of an attribute whose texts have natural order, in a sort or in an index. */
const naturalSuffix = ":natural";

/** The words that can follow the name of an attribute in a sort or in an index, after `:`. */
export const keyWords = ["natural", "nullsfirst", "nullslast"] as const;

const withWord = new RegExp(`^(.*):(${keyWords.join("|")})$`, "s");

/** The words after a name. */
export interface KeyOrder {
  isNatural: boolean;
  nulls: "first" | "last" | undefined;
}

/** Splits `name:natural:nullslast` into the name and the words. A word that repeats stays in the name. */
export function splitKey(text: string): { name: string; order: KeyOrder } {
  const order: KeyOrder = { isNatural: false, nulls: undefined };
  for (let name = text; ; ) {
    const [, rest, word] = withWord.exec(name) ?? [];
    if (rest === undefined || (word === "natural" ? order.isNatural : order.nulls !== undefined))
      return { name, order };
    if (word === "natural") order.isNatural = true;
    else order.nulls = word === "nullsfirst" ? "first" : "last";
    name = rest;
  }
}

/** Where nulls are, if it is not where the direction puts them: first, and last in descending order. */
export function nullsOf(
  descending: boolean,
  { nulls }: Pick<KeyOrder, "nulls">,
): Pick<SortKey, "movesNulls"> {
  return nulls === (descending ? "first" : "last") ? { movesNulls: true } : {};
}

/** Whether an attribute can have texts that are no dates. */
export function canBeNatural({ types, declared }: Pick<AttributeInfo, "types" | "declared">): boolean {
  return declared?.type.isNatural !== false && types?.has("string") !== false;
}

/** A key as a sort names it: `-author.name:natural`. */
export function formatKey({
  path,
  descending,
  as,
  movesNulls,
}: Pick<SortKey, "path" | "descending" | "as" | "movesNulls">): string {
  const nulls = movesNulls === true ? `:nulls${descending ? "first" : "last"}` : "";
  return `${descending ? "-" : ""}${formatPath(path)}${as === "natural" ? naturalSuffix : ""}${nulls}`;
}

function readSortKey(key: unknown, at: string): SortKey {
  const descending = typeof key === "string" && key.startsWith("-");
  const { name, order } = splitKey(typeof key === "string" ? key.slice(Number(descending)) : "");
  const path = parsePath(name);
  if (path === undefined) {
    throw new StartError(
      `${at} must name an attribute such as "name", "-publishedAt" or "author.name", not ${shortJson(key)}.`,
    );
  }
  if (path[0] === "id") throw new StartError(`${at}: lists by id are fast without an index. Remove it here.`);
  return {
    path,
    descending,
    ...(order.isNatural && { as: "natural" as const, folding: foldingVersion }),
    ...nullsOf(descending, order),
  };
}

/**
 * Reads every item of a list with `read`, which gets the item and its place. Throws StartError with every fault, also for
 * an item that is in the list twice: two values with the same `identityOf`.
 */
export function readDistinct<Value>(
  declared: unknown,
  at: string,
  read: (item: unknown, at: string) => Value,
  identityOf: (value: Value) => string = JSON.stringify,
): readonly Value[] {
  if (declared === undefined) return [];
  if (!Array.isArray(declared)) throw mustBe(at, "a list", declared);
  const seen = new Set<string>();
  return readEach<unknown, Value>(declared, (item, n) => {
    const place = `${at}[${n}]`;
    const value = read(item, place);
    const identity = identityOf(value);
    if (seen.has(identity)) throw new StartError(`${place} is in the list twice. Remove one.`);
    seen.add(identity);
    return value;
  });
}

/** How values of an attribute are compared, as a part of its sort key. */
export function comparedAs({ declared }: Pick<AttributeInfo, "declared">): { as?: DeclaredMeaning } {
  return declared === undefined ? {} : { as: declared.type.name };
}

/** A text that differs for keys of different attributes, and if their values are compared in different ways. */
export function nameOfKey({ path, as }: { path: Path; as?: string | undefined }): string {
  return `${as ?? ""} ${formatPath(path)}`;
}

/** Reads the option `search`: `["title", "body"]`. Throws StartError with every fault, each with its place below `at`. */
export function readSearch(declared: unknown, at: string, source: () => AttributeSource): readonly Path[] {
  return readDistinct(declared, at, (item, place) => {
    const path = typeof item === "string" ? parsePath(item) : undefined;
    if (path === undefined || path[0] === "id") {
      throw new StartError(
        `${place} must name an attribute such as "title" or "author.name", not ${shortJson(item)}.`,
      );
    }
    requireText(path, place, source());
    return path;
  });
}

/** Throws StartError if the schema does not allow the attribute. The message begins with `at`. */
function requireAttribute(path: Path, at: string, collection: AttributeSource): void {
  for (const depth of path.keys()) {
    const [first, ...inner] = path.slice(0, depth + 1);
    const { alternatives } = attributeInfo(collection, [first as string, ...inner]);
    if (alternatives === undefined) continue;
    const outside = path.slice(0, depth).map((name) => `${name}.`);
    const others = alternatives.map((name) => outside.join("") + name);
    throw new StartError(
      `${at}: "${formatPath(path)}" is not an attribute of the schema.${didYouMean(formatPath(path), others)}`,
    );
  }
}

/** Like `requireAttribute`. Also throws StartError if the attribute cannot hold text. */
function requireText(path: Path, at: string, collection: AttributeSource): void {
  requireAttribute(path, at, collection);
  const { types } = attributeInfo(collection, path);
  if (types === undefined || types.has("string") || types.has("array")) return;
  const what = [...types].join(" or ");
  throw new StartError(`${at}: "${formatPath(path)}" has no words to search, because its type is ${what}.`);
}
