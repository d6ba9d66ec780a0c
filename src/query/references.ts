/** The filter for the resources that refer to a resource. */
import { attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { formatPath, type Path } from "../collection/paths.ts";
import { type Filter, matchNone } from "./filter.ts";

/** What a reference contains: one id as a string or a number, or a list of ids. `collection` has the reference. */
export function typeOfReference(collection: Collection, path: Path): "string" | "number" | "array" {
  const { types } = attributeInfo(collection, path);
  return types?.has("array") === true ? "array" : types?.has("number") === true ? "number" : "string";
}

/** The resources of a collection that have an id in the reference at `path`. */
export function referringTo(collection: Collection, path: Path, id: string): Filter {
  const number = Number(id);
  const asNumber = Number.isSafeInteger(number) && String(number) === id ? [number] : [];
  const type = typeOfReference(collection, path);
  if (type === "array") return { kind: "contains", path, values: [id, ...asNumber] };
  const values = type === "number" ? asNumber : [id];
  return values.length === 0 ? matchNone : { kind: "in", path, values };
}

/** The query parameter with the meaning of `referringTo`, percent-encoded. */
export function referringParameter(collection: Collection, path: Path, id: string): string {
  const operator = typeOfReference(collection, path) === "array" ? "contains" : "eq";
  return `${encodeURIComponent(formatPath(path))}:${operator}=${encodeURIComponent(id)}`;
}
