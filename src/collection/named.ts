/** Whether what makes lists quick names attributes that can be there: a misspelled one would be ignored. */
import { StartError } from "../errors.ts";
import { attributeFacts } from "./attributes.ts";
import type { Collection } from "./collection.ts";
import { didYouMean } from "./nearest.ts";
import { formatPath, type Path } from "./paths.ts";

/** Throws StartError, naming the place below `at`, where an index or the search is of what the schema has no room for. */
export function requireNamed(collection: Collection, at: string): void {
  for (const [n, index] of collection.indexes.entries())
    for (const { path } of index) requireAttribute(path, `${at}.indexes[${n}]`, collection);
  for (const [n, path] of collection.search.entries()) {
    requireAttribute(path, `${at}.search[${n}]`, collection);
    requireText(path, `${at}.search[${n}]`, collection);
  }
}

function requireAttribute(path: Path, at: string, collection: Collection): void {
  for (const depth of path.keys()) {
    const [first, ...inner] = path.slice(0, depth + 1);
    const { insteadOf } = attributeFacts(collection, [first as string, ...inner]);
    if (insteadOf === undefined) continue;
    const outside = path.slice(0, depth).map((name) => `${name}.`);
    const others = insteadOf.map((name) => outside.join("") + name);
    throw new StartError(
      `${at}: "${formatPath(path)}" is not an attribute of the schema.${didYouMean(formatPath(path), others)}`,
    );
  }
}

function requireText(path: Path, at: string, collection: Collection): void {
  const { types } = attributeFacts(collection, path);
  if (types === undefined || types.has("string") || types.has("array")) return;
  const what = [...types].join(" or ");
  throw new StartError(`${at}: "${formatPath(path)}" has no words to search: the schema makes it ${what}.`);
}
