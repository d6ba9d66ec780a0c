/** Patches: reads them, and applies them to a resource. */
import { typesIn } from "../../collection/attributes.ts";
import type { Collection } from "../../collection/collection.ts";
import { attributeViolation } from "../../collection/resource.ts";
import { applyUpdate, parseUpdate, strayOperatorIn, type UpdateOperation } from "../../collection/update.ts";
import type { AttributeVisibility } from "../../collection/visibility.ts";
import { Problem, type Violation } from "../../errors.ts";
import { applyJsonPatch } from "../../json/json-patch.ts";
import { applyMergePatch } from "../../json/merge-patch.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { parseOperations } from "../../json/patch-operations.ts";
import { parsePointer, subjectAt, toFragment } from "../../json/pointer.ts";
import { isObject } from "../../json/values.ts";
import { createPauses, pauseAfter } from "../admission/turns.ts";
import { jsonLimits, readContent } from "../protocol/content.ts";
import type { PatchFormat } from "../protocol/content-types.ts";
import { parseMediaType } from "../protocol/media-types.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Limits } from "../settings.ts";

/** A patch whose JSON is read and checked. */
export type Patch =
  | {
      format: Exclude<PatchFormat, "update">;
      value: unknown;
      /** Whether the client has not said which kind of patch it is: `application/json`. @default false */
      isPlain?: boolean;
    }
  | { format: "update"; operations: readonly UpdateOperation[] };

/** Reads the content of a patch. Throws INVALID_PATCH, the problems of `readContent` and those of `parseJson`. */
export async function readPatch(request: HttpRequest, format: PatchFormat, limits: Limits): Promise<Patch> {
  try {
    const bytes = await readContent(request, limits);
    const value = parseJson(bytes, jsonLimits(limits));
    await pauseAfter(bytes.length);
    const isPlain = parseMediaType(request.headers["content-type"] ?? "")?.type === "application/json";
    return { ...patchOf(format, value, limits), ...(isPlain && { isPlain }) };
  } catch (error) {
    const isNoPatch =
      error instanceof Problem && (error.code === "MALFORMED_JSON" || error.code === "BODY_REQUIRED");
    throw isNoPatch ? new Problem("INVALID_PATCH", error.message) : error;
  }
}

/** The patch with this value. Throws INVALID_PATCH. It checks the operations of a JSON Patch only when it applies them. */
export function patchOf(format: PatchFormat, value: unknown, limits: Limits): Patch {
  if (format === "update") {
    const { patchOperations: maxOperations } = limits;
    return { format, operations: parseUpdate(value, { maxOperations, json: jsonLimits(limits) }) };
  }
  if (format === "merge-patch" && !isObject(value)) {
    throw new Problem(
      "INVALID_PATCH",
      "A merge patch must be a JSON object. For a JSON Patch, send Content-Type: application/json-patch+json.",
    );
  }
  return { format, value };
}

const result = { subject: "The result of the patch", insteadOfArray: "a resource is an object" };

/** The resource of a collection after the patch. Throws INVALID_PATCH, PATCH_CONFLICT, CONTENT_TOO_LARGE and BODY_NOT_OBJECT. */
export async function applyPatch(
  patch: Patch,
  resource: Record<string, unknown>,
  { collection, limits }: { collection: Collection; limits: Limits },
): Promise<Record<string, unknown>> {
  const json = jsonLimits(limits);
  if (patch.format === "update")
    return applyUpdate(resource, patch.operations, {
      json,
      typeAt: typesIn(collection),
      pause: createPauses(),
    });
  if (patch.format === "merge-patch")
    return requireObject(applyMergePatch(resource, patch.value, json), result);
  const { patchOperations: maxOperations, bodyBytes: maxBytes } = limits;
  return requireObject(applyJsonPatch(resource, patch.value, { maxOperations, maxBytes, json }), result);
}

/**
 * Refuses a patch of the type `application/json` that stores an update operator in place of a value on which the operator
 * works: the client meant an update. Throws INVALID_PATCH.
 */
export function requireNoStrayOperator(
  patch: Patch,
  resource: Record<string, unknown>,
  collection: Collection,
): void {
  if (patch.format !== "merge-patch" || patch.isPlain !== true || !isObject(patch.value)) return;
  const stray = strayOperatorIn(patch.value, resource, typesIn(collection));
  if (stray === undefined) return;
  const { names, operator } = stray;
  const detail = `would be replaced by an object with the member "${operator}". To apply the operator, send Content-Type: application/vnd.holdfast.update+json. To store the object, send Content-Type: application/merge-patch+json`;
  const pointer = toFragment(names);
  throw new Problem("INVALID_PATCH", `${subjectAt(pointer, "The resource")} ${detail}.`, {
    violations: [{ in: "body", pointer, code: "operator", detail }],
  });
}

/**
 * Whether the outcome of a patch reveals something about the resource. A merge patch always fits. The same holds for "add",
 * $set and $unset of whole attributes, so these reveal nothing. Throws INVALID_PATCH.
 */
export function revealsResource(patch: Patch, { patchOperations }: Limits): boolean {
  switch (patch.format) {
    case "merge-patch":
      return false;
    case "json-patch":
      return parseOperations(patch.value, patchOperations).some(
        ({ op, path }) => op !== "add" || path.length > 1,
      );
    case "update":
      return patch.operations.some(needsValue);
  }
}

/** Whether the result of an operation depends on the value that the attribute has. */
function needsValue({ operator, path }: UpdateOperation): boolean {
  return path.length > 1 || (operator !== "$set" && operator !== "$unset");
}

/**
 * Violations for write-only attributes whose value a patch would need. For a patch, these attributes do not exist, so
 * $increment would silently count from 0.
 */
export function unreadableViolations(patch: Patch, { hidden, restricted }: AttributeVisibility): Violation[] {
  if (patch.format !== "update") return [];
  const names = patch.operations.filter(needsValue).map(({ path }) => path[0]);
  return names
    .filter((name) => hidden.has(name) && !restricted.has(name))
    .map((name) =>
      attributeViolation(
        name,
        "writeOnly",
        "is write-only: change it with $set or $unset of the whole attribute",
      ),
    );
}

/** The attributes that a patch names. The patch must not be one that `revealsResource`. */
export function namedIn(patch: Patch): ReadonlySet<string> {
  if (patch.format === "update") return new Set(patch.operations.map(({ path }) => path[0]));
  const { value } = patch;
  if (isObject(value)) return new Set(Object.keys(value));
  const operations = Array.isArray(value) ? (value as { path: string; value?: unknown }[]) : [];
  return new Set(
    operations.flatMap(({ path, value: added }) => {
      const [name] = parsePointer(path) ?? [];
      if (name !== undefined) return [name];
      return isObject(added) ? Object.keys(added) : [];
    }),
  );
}

/** Whether a patch names attributes that the caller can set but not see. */
export function patchNamesHidden(collection: Collection, patch: Patch): boolean {
  if (patch.format !== "update") return namesHidden(collection, patch.value);
  const hidden = unseenOf(collection);
  return patch.operations.some(({ path }) => hidden.has(path[0]));
}

/** Whether a resource or the value of a patch names attributes that the caller can set but not see. */
export function namesHidden(collection: Collection, sent: unknown): boolean {
  const hidden = unseenOf(collection);
  if (hidden.size === 0) return false;
  if (isObject(sent)) return [...hidden].some((name) => Object.hasOwn(sent, name));
  if (!Array.isArray(sent)) return false;
  const pointers = sent.flatMap((each: unknown) => (isObject(each) ? [each.path, each.from] : []));
  return pointers.some((pointer) => {
    if (typeof pointer !== "string") return false;
    const [name] = parsePointer(pointer) ?? [];
    return name === undefined || hidden.has(name);
  });
}

/** The attributes that the caller can set but not see. A restricted attribute does not exist for the caller. */
function unseenOf({ visibility }: Collection): ReadonlySet<string> {
  const { hidden, restricted } = visibility ?? { hidden: new Set<string>(), restricted: new Set<string>() };
  return new Set([...hidden].filter((name) => !restricted.has(name)));
}

/** The whole attributes that a patch removes. A JSON Patch cannot remove an attribute that the caller does not see. */
export function removedBy(patch: Patch): ReadonlySet<string> {
  switch (patch.format) {
    case "json-patch":
      return new Set();
    case "merge-patch": {
      const { value } = patch;
      if (!isObject(value)) return new Set();
      return new Set(Object.keys(value).filter((name) => value[name] === null));
    }
    case "update": {
      const removals = patch.operations.filter(
        ({ operator, path }) => operator === "$unset" && path.length === 1,
      );
      return new Set(removals.map(({ path }) => path[0]));
    }
  }
}
