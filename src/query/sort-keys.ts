/** Reads a sort in any syntax: `sort=-a,b`, `_sort=a,b&_order=desc,asc`, `sort=["a","DESC"]`. */
import {
  canBeNatural,
  comparedAs,
  type KeyOrder,
  keyWords,
  nullsOf,
  splitKey,
} from "../collection/indexes.ts";
import { shortJson } from "../collection/messages.ts";
import { parsePath } from "../collection/paths.ts";
import { isObject, tryParse } from "../json/values.ts";
import {
  foreignKey,
  isDirection,
  type NamedKey,
  translateSort,
  translateSortObject,
  writeParameter,
} from "./foreign-syntax.ts";
import type { ListParameter } from "./list-parameters.ts";
import { type Reading, readSingleAttribute, visibleAttributeInfo } from "./reading.ts";
import { isIdKey, type RequestedSortKey } from "./sort.ts";
import { inQuery, inside, type Location } from "./violations.ts";

const maxKeys = 5;

/** Reads the sort of a query string. Adds violations. */
export function readSortParameters(
  known: ReadonlyMap<ListParameter, string>,
  reading: Reading,
): readonly RequestedSortKey[] {
  const sort = known.get("sort");
  const legacy = known.get("_sort");
  const order = known.get("_order");
  if (sort !== undefined && (legacy !== undefined || order !== undefined)) {
    const other = legacy === undefined ? "_order" : "_sort";
    reading.violations.add(inQuery(other), "sort", 'cannot be used together with "sort"');
    return [];
  }
  if (sort !== undefined) return readSortText(sort, reading);
  if (legacy !== undefined) return readLegacy(legacy, order, reading);
  if (order !== undefined)
    reading.violations.add(inQuery("_order"), "sort", 'needs "_sort", which names the attributes');
  return [];
}

/** Reads the sort in the body of a QUERY: `["-a", "b"]`. Adds violations. */
export function readSortList(
  value: unknown,
  location: Location,
  reading: Reading,
): readonly RequestedSortKey[] {
  if (!Array.isArray(value)) {
    reading.violations.mustBe(location, "sort", 'an array such as ["-a","b"]', value);
    return [];
  }
  const wrong = value.findIndex((each) => typeof each !== "string");
  if (wrong === -1) return readKeys(value, location, reading);
  reading.violations.mustBe(inside(location, wrong), "sort", "the name of an attribute", value[wrong]);
  return [];
}

function readSortText(text: string, reading: Reading): readonly RequestedSortKey[] {
  const location = inQuery("sort");
  if (!/^[[{]/.test(text)) return readKeys(text.split(","), location, reading);
  const pair = tryParse(text);
  const [name, order, ...rest] = Array.isArray(pair) ? pair : [];
  const descending = typeof order === "string" ? isDescending(order) : undefined;
  if (typeof name === "string" && descending !== undefined && rest.length === 0)
    return toSort([{ name, descending }], location, reading);
  const translation = isObject(pair)
    ? `. Write ${shortJson(writeParameter("sort", translateSortObject(pair)))}`
    : "";
  reading.violations.add(
    location,
    "sort",
    `must have the form -a,b or ["a","ASC"], not ${shortJson(text)}${translation}`,
  );
  return [];
}

function readLegacy(
  names: string,
  orders: string | undefined,
  reading: Reading,
): readonly RequestedSortKey[] {
  const location = inQuery("_sort");
  if (orders === undefined) return readKeys(names.split(","), location, reading);
  const directions = orders.split(",").map(isDescending);
  const keys = names.split(",").map((name, n) => ({ name: name.trim(), descending: directions[n] ?? false }));
  if (directions.includes(undefined)) {
    reading.violations.mustBe(inQuery("_order"), "sort", "asc or desc for each key", orders);
  } else if (directions.length > keys.length) {
    reading.violations.add(inQuery("_order"), "sort", 'must not have more directions than "_sort" has keys');
  } else return toSort(keys, location, reading);
  return [];
}

/** Reads keys with a sign for the direction. */
function readKeys(
  texts: readonly string[],
  location: Location,
  reading: Reading,
): readonly RequestedSortKey[] {
  const foreign =
    texts.length > maxKeys ? undefined : texts.find((text) => isForeign(text, location, reading));
  if (foreign === undefined) return toSort(texts.map(readKey), location, reading);
  const translation = translateSort(texts.join(","));
  const names = translation.split(",").map((key) => readKey(key).name);
  if (names.some((name) => readSingleAttribute(name, location, reading) === undefined)) return [];
  const example =
    location.in === "query"
      ? shortJson(writeParameter(location.name, translation))
      : JSON.stringify(translation.split(","));
  reading.violations.add(
    location,
    "sort",
    `has the key ${shortJson(foreign)}, which is not understood. Write ${example}${escapeFor(foreign, reading)}`,
  );
  return [];
}

/** Whether a key has the syntax of another server, and no known attribute has this name. */
function isForeign(text: string, location: Location, { collection }: Reading): boolean {
  const key = foreignKey(text.trim());
  if (key === undefined && !isDirection(text)) return false;
  const path = parsePath(text.trim());
  if (path === undefined) return true;
  const { alternatives, isDeclared } = visibleAttributeInfo(collection, path);
  // The body of a QUERY has no other syntax for an attribute with such a name, so the key must work there.
  const isCertain = key?.isCertain === true && location.in === "query";
  return alternatives !== undefined || (isCertain && !isDeclared);
}

/** How to sort by an attribute with the name of a foreign key; empty if no such attribute can exist. */
function escapeFor(name: string, { collection }: Reading): string {
  const path = parsePath(name.trim());
  if (path === undefined || visibleAttributeInfo(collection, path).alternatives !== undefined) return "";
  return `. To sort by an attribute with this name, write ${shortJson(`sort=${JSON.stringify([name.trim(), "ASC"])}`)}`;
}

/** Reads a key with an optional sign and an optional order. A `+` that the client did not encode is a space here. */
function readKey(text: string): ReadKey {
  const key = text.trim();
  const { name, order } = splitKey(key);
  const [, word] = /:(\w+)$/.exec(name) ?? [];
  return {
    name: /^[+-]/.test(name) ? name.slice(1) : name,
    descending: key.startsWith("-"),
    order,
    ...(word !== undefined && { word }),
  };
}

function isKnown(name: string, { collection }: Reading): boolean {
  const path = parsePath(name);
  return path !== undefined && visibleAttributeInfo(collection, path).isDeclared;
}

interface ReadKey extends NamedKey {
  /** The words after the name. @default none */
  order?: KeyOrder;
  /** Another word after `:`. It is a part of the name only if an attribute has this name. */
  word?: string;
}

const noOrder: KeyOrder = { isNatural: false, nulls: undefined };

function isDescending(text: string): boolean | undefined {
  const order = text.trim().toLowerCase();
  return order === "desc" || order === "asc" ? order === "desc" : undefined;
}

function toSort(
  named: readonly ReadKey[],
  location: Location,
  reading: Reading,
): readonly RequestedSortKey[] {
  if (named.length > maxKeys) {
    reading.violations.add(
      location,
      "sort",
      `must name at most ${maxKeys} attributes, but names ${named.length}`,
    );
    return [];
  }
  const names: string[] = [];
  const keys = named.flatMap(({ name, descending, order = noOrder, word }): RequestedSortKey[] => {
    const { isNatural } = order;
    if (word !== undefined && !isKnown(name, reading)) {
      const detail = `names ${shortJson(name)}: after ":", only ${keyWords.join(", ")} are understood`;
      reading.violations.add(location, "sort", detail);
      return [];
    }
    const attribute = readSingleAttribute(name, location, reading);
    if (attribute === undefined) return [];
    const { path, through } = attribute;
    names.push(name);
    if (isNatural && !canBeNatural(attribute))
      reading.violations.add(
        location,
        "sort",
        `names ${shortJson(name)}, which has no texts and so no natural order`,
      );
    const as = isNatural ? { as: "natural" as const } : comparedAs(attribute);
    // An id is never null.
    const nulls = isIdKey({ path, through }) ? {} : nullsOf(descending, order);
    return [{ path, descending, ...as, ...nulls, ...(through && { through: through[0] }) }];
  });
  const repeated = names.find((name, n) => names.indexOf(name) < n);
  if (repeated !== undefined) reading.violations.add(location, "sort", `names ${shortJson(repeated)} twice`);
  // No two resources have the same id, so keys after it have no effect.
  const id = keys.findIndex(isIdKey);
  return id === -1 ? keys : keys.slice(0, id + 1);
}
