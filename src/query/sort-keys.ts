/** The spellings of a sort: `sort=-a,b`, `_sort=a,b&_order=desc,asc`, `sort=["a","DESC"]`. */
import type { SortKey } from "../collection/indexes.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, isIdPath, parsePath } from "../collection/paths.ts";
import { isObject } from "../json/values.ts";
import { askedFacts } from "./asked-facts.ts";
import { type Reading, readAttribute } from "./conditions.ts";
import { parameter } from "./example.ts";
import { inQuery, inside, type Place } from "./faults.ts";
import type { ListParameter } from "./parameters.ts";
import { foreignKey, isDirection, type Spelled, sortMeantBy, sortMeantByObject } from "./sort-guesses.ts";

const maxKeys = 5;

/** The sort that a query string asks for. What is wrong goes to the faults. */
export function readSortParameters(
  known: ReadonlyMap<ListParameter, string>,
  reading: Reading,
): readonly SortKey[] {
  const sort = known.get("sort");
  const legacy = known.get("_sort");
  const order = known.get("_order");
  if (sort !== undefined && (legacy !== undefined || order !== undefined)) {
    const other = legacy === undefined ? "_order" : "_sort";
    reading.faults.add(inQuery(other), "sort", 'cannot be used together with "sort"');
    return [];
  }
  if (sort !== undefined) return readSortText(sort, reading);
  if (legacy !== undefined) return readLegacy(legacy, order, reading);
  if (order !== undefined)
    reading.faults.add(inQuery("_order"), "sort", 'needs "_sort", which names the attributes');
  return [];
}

/** The sort that the content of a QUERY asks for: `["-a", "b"]`. What is wrong goes to the faults. */
export function readSortList(value: unknown, place: Place, reading: Reading): readonly SortKey[] {
  if (!Array.isArray(value)) {
    reading.faults.add(place, "sort", `must be an array such as ["-a","b"], not ${shortJson(value)}`);
    return [];
  }
  const wrong = value.findIndex((each) => typeof each !== "string");
  if (wrong === -1) return readKeys(value, place, reading);
  const detail = `must be the name of an attribute, not ${shortJson(value[wrong])}`;
  reading.faults.add(inside(place, wrong), "sort", detail);
  return [];
}

function readSortText(text: string, reading: Reading): readonly SortKey[] {
  const place = inQuery("sort");
  if (!/^[[{]/.test(text)) return readKeys(text.split(","), place, reading);
  const pair = parseJson(text);
  const [name, order, ...rest] = Array.isArray(pair) ? pair : [];
  const descending = typeof order === "string" ? isDescending(order) : undefined;
  if (typeof name === "string" && descending !== undefined && rest.length === 0)
    return toSort([{ name, descending }], place, reading);
  const meant = isObject(pair) ? `. Write ${shortJson(parameter("sort", sortMeantByObject(pair)))}` : "";
  reading.faults.add(place, "sort", `must have the form -a,b or ["a","ASC"], not ${shortJson(text)}${meant}`);
  return [];
}

function readLegacy(names: string, orders: string | undefined, reading: Reading): readonly SortKey[] {
  const place = inQuery("_sort");
  if (orders === undefined) return readKeys(names.split(","), place, reading);
  const directions = orders.split(",").map(isDescending);
  const keys = names.split(",").map((name, n) => ({ name: name.trim(), descending: directions[n] ?? false }));
  if (directions.includes(undefined)) {
    reading.faults.add(
      inQuery("_order"),
      "sort",
      `must be asc or desc for each key, not ${shortJson(orders)}`,
    );
  } else if (directions.length > keys.length) {
    reading.faults.add(inQuery("_order"), "sort", 'must not have more directions than "_sort" has keys');
  } else return toSort(keys, place, reading);
  return [];
}

/** Reads keys that have a sign for the direction. */
function readKeys(texts: readonly string[], place: Place, reading: Reading): readonly SortKey[] {
  const foreign = texts.length > maxKeys ? undefined : texts.find((text) => isForeign(text, place, reading));
  if (foreign === undefined) return toSort(texts.map(readKey), place, reading);
  const meant = sortMeantBy(texts.join(","));
  const names = meant.split(",").map((key) => readKey(key).name);
  if (names.some((name) => readAttribute(name, place, reading) === undefined)) return [];
  const example =
    place.in === "query" ? shortJson(parameter(place.name, meant)) : JSON.stringify(meant.split(","));
  reading.faults.add(
    place,
    "sort",
    `has the key ${shortJson(foreign)}, which is not understood. Write ${example}${escapeFor(foreign, reading)}`,
  );
  return [];
}

/** Whether a key has another server's spelling, and no known attribute has this name. */
function isForeign(text: string, place: Place, { collection }: Reading): boolean {
  const key = foreignKey(text.trim());
  if (key === undefined && !isDirection(text)) return false;
  const path = parsePath(text.trim());
  if (path === undefined) return true;
  const { alternatives, isDeclared } = askedFacts(collection, path);
  // In the content of a QUERY, an attribute of such a name has no other spelling, so it must work.
  const isCertain = key?.isCertain === true && place.in === "query";
  return alternatives !== undefined || (isCertain && !isDeclared);
}

/** Says how to sort by an attribute whose name looks like a foreign key, if there may be such an attribute. */
function escapeFor(name: string, { collection }: Reading): string {
  const path = parsePath(name.trim());
  if (path === undefined || askedFacts(collection, path).alternatives !== undefined) return "";
  return `. To sort by an attribute with this name, write ${shortJson(`sort=${JSON.stringify([name.trim(), "ASC"])}`)}`;
}

/** `+` for ascending has become a blank where nobody encoded it. */
function readKey(text: string): Spelled {
  const key = text.trim();
  return { name: /^[+-]/.test(key) ? key.slice(1) : key, descending: key.startsWith("-") };
}

function isDescending(text: string): boolean | undefined {
  const order = text.trim().toLowerCase();
  return order === "desc" || order === "asc" ? order === "desc" : undefined;
}

function toSort(spelled: readonly Spelled[], place: Place, reading: Reading): readonly SortKey[] {
  if (spelled.length > maxKeys) {
    reading.faults.add(place, "sort", `must name at most ${maxKeys} attributes, but names ${spelled.length}`);
    return [];
  }
  const keys = spelled.flatMap(({ name, descending }): SortKey[] => {
    const attribute = readAttribute(name, place, reading);
    return attribute === undefined ? [] : [{ path: attribute.path, descending }];
  });
  const names = keys.map(({ path }) => formatPath(path));
  const repeated = names.find((name, n) => names.indexOf(name) < n);
  if (repeated !== undefined) reading.faults.add(place, "sort", `names ${shortJson(repeated)} twice`);
  // No two resources have the same id: whatever comes after it decides nothing.
  const id = keys.findIndex(({ path }) => isIdPath(path));
  return id === -1 ? keys : keys.slice(0, id + 1);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
