/** What a reference contains, and the filter for the resources that refer to a resource. */
import { attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import type { IdKind } from "../collection/ids.ts";
import { formatPath, type Path } from "../collection/paths.ts";
import { type Filter, matchNone } from "./filter.ts";

/** What a reference contains: one id as a string, as a number or as any of both, or a list of ids. */
export type ReferenceType = "string" | "number" | "any" | "array";

/** What the reference at a path contains. `collection` has the reference. */
export function typeOfReference(collection: Collection, path: Path): ReferenceType {
  const { types } = attributeInfo(collection, path);
  if (types === undefined) return "any";
  return types.has("array") ? "array" : types.has("number") ? "number" : "string";
}

/** The value that a reference to a resource of `target` needs: a list with its id, or its id as the schema allows it. */
export function referenceTo(
  collection: Collection,
  path: Path,
  target: { idKind: IdKind; id: string },
): string | number | readonly (string | number)[] {
  const { types, itemTypes } = attributeInfo(collection, path);
  const isList = types?.has("array") === true;
  const allowed = isList ? itemTypes : types;
  const isNumber = (allowed?.has("string") ?? target.idKind === "uuid") === false;
  const id = isNumber ? Number(target.id) : target.id;
  return isList ? [id] : id;
}

/** The resources of a collection that have an id in the reference at `path`. */
export function referringTo(collection: Collection, path: Path, id: string): Filter {
  const number = Number(id);
  const asNumber = Number.isSafeInteger(number) && String(number) === id ? [number] : [];
  const type = typeOfReference(collection, path);
  if (type === "array") return { kind: "contains", path, values: [id, ...asNumber] };
  const values = type === "number" ? asNumber : type === "string" ? [id] : [id, ...asNumber];
  return values.length === 0 ? matchNone : { kind: "in", path, values };
}

/** The query parameter with the meaning of `referringTo`, percent-encoded. */
export function referringParameter(collection: Collection, path: Path, id: string): string {
  const operator = typeOfReference(collection, path) === "array" ? "contains" : "eq";
  return `${encodeURIComponent(formatPath(path))}:${operator}=${encodeURIComponent(id)}`;
}
