/** Parts of SQL that are the same in all stores. */
import type { Index } from "../collection/indexes.ts";
import { formatPath, type Path } from "../collection/paths.ts";

/** Quotes the name of a table, column or index. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Whether an index contains the attribute. */
export function isIndexed(path: Path, indexes: readonly Index[]): boolean {
  const name = formatPath(path);
  return indexes.some((index) => index.some((key) => formatPath(key.path) === name));
}
