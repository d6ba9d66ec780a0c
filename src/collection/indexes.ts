/** What a collection declares so that lists of it are quick: indexes, and attributes whose words are searched. */
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { type Path, parsePath } from "./paths.ts";
import { shown } from "./shown.ts";

/** One attribute to sort by. */
export interface SortKey {
  path: Path;
  descending: boolean;
}

/** The sort keys of one index; the id comes last by itself. */
export type Index = readonly SortKey[];

const maxKeys = 5;

/** Throws a StartError that names the place `at`, if the schema has no room for an attribute. */
type Check = (path: Path, at: string) => void;

/**
 * Reads the option `indexes`: `["name", ["status", "-publishedAt"]]`. Throws StartError with every fault, each with its place
 * below `at`.
 */
export function readIndexes(declared: unknown, at: string, check: Check = () => {}): readonly Index[] {
  return readDifferent(declared, at, (item, place) => readIndex(item, place, check));
}

/** Reads every item of a list. Throws StartError for an item that is in the list twice. */
function readDifferent<Value>(
  declared: unknown,
  at: string,
  read: (item: unknown, at: string) => Value,
): readonly Value[] {
  if (declared === undefined) return [];
  if (!Array.isArray(declared)) throw new StartError(`${at} must be a list, not ${shown(declared)}.`);
  const seen = new Set<string>();
  return readEach<unknown, Value>(declared, (item, n) => {
    const place = `${at}[${n}]`;
    const value = read(item, place);
    const spelled = JSON.stringify(value);
    if (seen.has(spelled)) throw new StartError(`${place} is in the list twice. Remove one.`);
    seen.add(spelled);
    return value;
  });
}

function readIndex(item: unknown, at: string, check: Check): Index {
  const keys: readonly unknown[] = Array.isArray(item) ? item : [item];
  if (keys.length === 0 || keys.length > maxKeys) {
    throw new StartError(`${at} must name 1 to ${maxKeys} attributes, not ${keys.length}.`);
  }
  const index = readEach(keys, (key) => {
    const sortKey = readSortKey(key, at);
    check(sortKey.path, at);
    return sortKey;
  });
  if (new Set(index.map(({ path }) => path.join("."))).size < index.length) {
    throw new StartError(`${at} names an attribute twice.`);
  }
  return index;
}

function readSortKey(key: unknown, at: string): SortKey {
  const descending = typeof key === "string" && key.startsWith("-");
  const path = typeof key === "string" ? parsePath(descending ? key.slice(1) : key) : undefined;
  if (path === undefined) {
    throw new StartError(
      `${at} must name an attribute such as "name", "-publishedAt" or "author.name", not ${shown(key)}.`,
    );
  }
  if (path[0] === "id") throw new StartError(`${at}: lists by id are fast without an index. Remove it here.`);
  return { path, descending };
}

/** Reads the option `search`: `["title", "body"]`. Throws StartError with every fault, each with its place below `at`. */
export function readSearch(declared: unknown, at: string, check: Check): readonly Path[] {
  return readDifferent(declared, at, (item, place) => {
    const path = typeof item === "string" ? parsePath(item) : undefined;
    if (path === undefined || path[0] === "id") {
      throw new StartError(
        `${place} must name an attribute such as "title" or "author.name", not ${shown(item)}.`,
      );
    }
    check(path, place);
    return path;
  });
}
