/** The first row of a CSV input: what each column holds. */
import { attributeFacts } from "../../collection/attributes.ts";
import type { Collection } from "../../collection/collection.ts";
import { type Path, parsePath } from "../../collection/paths.ts";
import { StartError } from "../../errors.ts";
import { withoutGuard } from "../../http/lists/csv.ts";
import { suggest } from "../words.ts";
import type { Column } from "./cells.ts";

/** The columns that a header names. Throws StartError for a name that cannot be an attribute of the collection, or is there twice. */
export function readHeader(
  collection: Collection,
  header: readonly string[],
  delimiter: string,
): readonly Column[] {
  requireDelimiter(header, delimiter);
  const columns = header.map((cell, index) => readColumn(collection, nameOf(collection, cell), index));
  requireApart(columns.map(({ path }) => path));
  return columns;
}

/** A header of one column is most often one whose delimiter is another. */
function requireDelimiter([only = "", ...others]: readonly string[], delimiter: string): void {
  if (others.length > 0) return;
  const found = [",", ";", "\t", "|"].find((each) => each !== delimiter && only.includes(each));
  if (found === undefined) return;
  const option = found === "\t" ? "tab" : `"${found}"`;
  throw new StartError(
    `The header has only one column, ${JSON.stringify(only)}. If ${option} separates the columns, add --delimiter ${option}.`,
  );
}

/** Blanks around a name are none of it, unless the schema has them too. */
function nameOf(collection: Collection, cell: string): string {
  const name = withoutGuard(cell);
  return attributeFacts(collection, [name]).isDeclared ? name : withoutGuard(cell.trim());
}

function readColumn(collection: Collection, name: string, index: number): Column {
  const path = pathOf(collection, name);
  if (path === undefined) {
    const what = name === "" ? "has no name" : `is "${name}", with an empty name before or after a dot`;
    throw new StartError(`Column ${index + 1} of the header ${what}.`);
  }
  requireKnown(collection, path);
  return { path, types: attributeFacts(collection, path).types };
}

/** Dots lead into objects, unless the schema has an attribute of just this name. */
function pathOf(collection: Collection, name: string): Path | undefined {
  return name !== "" && attributeFacts(collection, [name]).isDeclared ? [name] : parsePath(name);
}

function requireKnown(collection: Collection, path: Path): void {
  for (let depth = 1; depth <= path.length; depth++) {
    const prefix = path.slice(0, depth) as [string, ...string[]];
    const { insteadOf } = attributeFacts(collection, prefix);
    if (insteadOf === undefined) continue;
    throw new StartError(
      `The header names "${path.join(".")}", which is not an attribute of ${collection.name}. ${suggest(prefix.at(-1) ?? "", insteadOf)}`,
    );
  }
}

/** No two columns may be about the same attribute, nor one about a part of the other. */
function requireApart(paths: readonly Path[]): void {
  const whole = new Map(paths.map((path) => [JSON.stringify(path), path]));
  const seen = new Set<string>();
  for (const path of paths) {
    const inside = path.slice(0, -1).map((_, depth) => JSON.stringify(path.slice(0, depth + 1)));
    const other = seen.has(JSON.stringify(path))
      ? path
      : whole.get(inside.find((key) => whole.has(key)) ?? "");
    if (other !== undefined) throw together(path.join("."), other.join("."));
    seen.add(JSON.stringify(path));
  }
}

function together(name: string, other: string): StartError {
  if (name === other) return new StartError(`The header names "${name}" twice. Remove one of these columns.`);
  return new StartError(
    `The header names both "${other}" and "${name}", which is part of it. Remove one of these columns.`,
  );
}
