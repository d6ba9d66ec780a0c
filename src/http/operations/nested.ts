/**
 * Nested paths, such as `users/7/articles`: the parent resource, which the caller must be able to read, and the reference to it
 * in the resources below.
 */
import type { Judged } from "../../access/access.ts";
import { formatPath, valueAt } from "../../collection/paths.ts";
import { Problem } from "../../errors.ts";
import { toFragment } from "../../json/pointer.ts";
import { isObject } from "../../json/values.ts";
import { referenceTo, referringParameter, referringTo } from "../../query/related-resources.ts";
import type { Caller } from "../caller/admit.ts";
import { currentOf } from "../caller/judged.ts";
import { guardOf, viewFor } from "../caller/permission.ts";
import type { CollectionRoute, NestedIn } from "../route.ts";
import type { Callers, Data } from "../service.ts";
import { keyOf, type Parent } from "./operation.ts";
import { notFound, type Result } from "./result.ts";

/** The resource in a nested path, and what its id means for the resources below it. */
export function parentOf(
  service: Callers,
  route: CollectionRoute,
  { parent, relation }: NestedIn,
  caller: Caller,
): Parent {
  const { id, path: listPath } = route;
  const collection = viewFor(service, parent, caller);
  const view = viewFor(service, route.collection, caller);
  return {
    collection,
    id,
    guard: guardOf(service, collection, caller),
    path: relation.path,
    value: referenceTo(route.collection, relation.path, { idKind: collection.idKind, id }),
    filter: referringTo(view, relation.path, id),
    plain: { path: listPath, parameter: referringParameter(view, relation.path, id) },
  };
}

/** Performs an operation. The result is `notFound` if the caller cannot read the parent. */
export function belowParent(
  service: Data,
  parent: Parent | undefined,
  perform: () => Result | Promise<Result>,
): Result | Promise<Result> {
  if (parent === undefined) return perform();
  const continueWith = (stored: Judged | undefined) =>
    stored !== undefined && parent.guard.may("read", stored) ? perform() : notFound;
  const found = currentOf(service, parent.guard, keyOf(parent));
  return found instanceof Promise ? found.then(continueWith) : continueWith(found);
}

/**
 * The content of a create below a resource, with the reference to this resource. Throws VALIDATION_FAILED if the content
 * has another reference.
 */
export function withReference(
  content: Record<string, unknown>,
  { id, path, value }: Parent,
): Record<string, unknown> {
  const sent = valueAt(content, path);
  if (sent === undefined) return withValue(content, path, value) ?? refuse(path, id);
  const isSame = (value: unknown) => typeof value !== "object" && String(value) === id;
  const isFitting = Array.isArray(value) ? Array.isArray(sent) && sent.some(isSame) : isSame(sent);
  return isFitting ? content : refuse(path, id);
}

/** The object with a value at a path where it has none; `undefined` if another value is in the way. */
function withValue(
  object: Record<string, unknown>,
  [name, ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> | undefined {
  if (name === undefined) return undefined;
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = Object.hasOwn(object, name) ? object[name] : {};
  const changed = isObject(inner) ? withValue(inner, rest, value) : undefined;
  return changed && { ...object, [name]: changed };
}

function refuse(path: Parent["path"], id: string): never {
  const detail = `must refer to ${JSON.stringify(id)}, as the path of the request does. Leave it out, or send the resource to the path of its collection`;
  throw new Problem("VALIDATION_FAILED", `The attribute "${formatPath(path)}" ${detail}.`, {
    violations: [{ in: "body", pointer: toFragment(path), code: "reference", detail }],
  });
}
