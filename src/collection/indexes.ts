/** What a collection declares so that lists of it are quick: indexes, and attributes whose words are searched. */
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

/** Reads the option `indexes`: `["name", ["status", "-publishedAt"]]`. Throws StartError naming the place below `at`. */
export function readIndexes(declared: unknown, at: string): readonly Index[] {
  if (declared === undefined) return [];
  if (!Array.isArray(declared)) throw new StartError(`${at} must be a list, and is ${shown(declared)}.`);
  const indexes = declared.map((item, n) => readIndex(item, `${at}[${n}]`));
  const spelled = indexes.map((index) => JSON.stringify(index));
  const repeated = spelled.findIndex((each, n) => spelled.indexOf(each) < n);
  if (repeated !== -1) throw new StartError(`${at}[${repeated}] is there twice: leave it out.`);
  return indexes;
}

function readIndex(item: unknown, at: string): Index {
  const keys: readonly unknown[] = Array.isArray(item) ? item : [item];
  if (keys.length === 0 || keys.length > maxKeys) {
    throw new StartError(`${at} must name one to ${maxKeys} attributes, and names ${keys.length}.`);
  }
  const index = keys.map((key) => readSortKey(key, at));
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
      `${at} must name an attribute such as "name", "-publishedAt" or "author.name", and is ${shown(key)}.`,
    );
  }
  if (path[0] === "id") throw new StartError(`${at}: every list is quick by id without an index.`);
  return { path, descending };
}

/** Reads the option `search`: `["title", "body"]`. Throws StartError naming the place below `at`. */
export function readSearch(declared: unknown, at: string): readonly Path[] {
  if (declared === undefined) return [];
  if (!Array.isArray(declared)) throw new StartError(`${at} must be a list, and is ${shown(declared)}.`);
  const paths = declared.map((item, n) => {
    const path = typeof item === "string" ? parsePath(item) : undefined;
    if (path !== undefined && path[0] !== "id") return path;
    throw new StartError(
      `${at}[${n}] must name an attribute such as "title" or "author.name", and is ${shown(item)}.`,
    );
  });
  if (new Set(paths.map((path) => path.join("."))).size === paths.length) return paths;
  throw new StartError(`${at} names an attribute twice.`);
}
