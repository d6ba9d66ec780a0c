/** SQL that both stores write in the same way. */
import type { Index } from "../collection/indexes.ts";
import { formatPath, type Path } from "../collection/paths.ts";

/** Quotes a name. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Whether some index names the attribute. */
export function isIndexed(path: Path, indexes: readonly Index[]): boolean {
  const name = formatPath(path);
  return indexes.some((index) => index.some((key) => formatPath(key.path) === name));
}
