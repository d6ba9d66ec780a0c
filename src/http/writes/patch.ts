/** Patches: reads them, and applies them to a resource. */
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import { applyJsonPatch } from "../../json/json-patch.ts";
import { applyMergePatch } from "../../json/merge-patch.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { parseOperations } from "../../json/patch-operations.ts";
import { parsePointer } from "../../json/pointer.ts";
import { isObject } from "../../json/values.ts";
import { pauseAfter } from "../limits/turns.ts";
import { jsonLimits, readContent } from "../protocol/content.ts";
import type { PatchFormat } from "../protocol/content-types.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Limits } from "../settings.ts";

/** A patch whose JSON is read and checked. */
export interface Patch {
  format: PatchFormat;
  value: unknown;
}

/** Reads the content of a patch. Throws INVALID_PATCH, the problems of `readContent` and those of the JSON gate. */
export async function readPatch(request: HttpRequest, format: PatchFormat, limits: Limits): Promise<Patch> {
  try {
    const bytes = await readContent(request, limits);
    const value = parseJson(bytes, jsonLimits(limits));
    if (format === "merge-patch" && !isObject(value)) {
      throw new Problem(
        "INVALID_PATCH",
        "A merge patch must be a JSON object. For a JSON Patch, send Content-Type: application/json-patch+json.",
      );
    }
    await pauseAfter(bytes.length);
    return { format, value };
  } catch (error) {
    const isNoPatch =
      error instanceof Problem && (error.code === "MALFORMED_JSON" || error.code === "BODY_REQUIRED");
    throw isNoPatch ? new Problem("INVALID_PATCH", error.message) : error;
  }
}

const result = { subject: "The result of the patch", insteadOfArray: "a resource is an object" };

/** The resource after the patch. Throws INVALID_PATCH, PATCH_CONFLICT, CONTENT_TOO_LARGE and BODY_NOT_OBJECT. */
export function applyPatch(
  patch: Patch,
  resource: Record<string, unknown>,
  limits: Limits,
): Record<string, unknown> {
  const json = jsonLimits(limits);
  if (patch.format === "merge-patch")
    return requireObject(applyMergePatch(resource, patch.value, json), result);
  const { patchOperations: maxOperations, bodyBytes: maxBytes } = limits;
  return requireObject(applyJsonPatch(resource, patch.value, { maxOperations, maxBytes, json }), result);
}

/**
 * Whether the outcome of a patch reveals something about the resource. A merge patch always fits, and "add" of a whole
 * attribute replaces any value, so these reveal nothing. Throws INVALID_PATCH.
 */
export function revealsResource({ format, value }: Patch, { patchOperations }: Limits): boolean {
  if (format === "merge-patch") return false;
  return parseOperations(value, patchOperations).some(({ op, path }) => op !== "add" || path.length > 1);
}

/** The attributes that a patch names. The patch must not be one that `revealsResource`. */
export function namedIn({ value }: Patch): ReadonlySet<string> {
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

/** Whether a resource or a patch names attributes that are hidden from the caller. */
export function namesHidden({ visibility }: Collection, sent: unknown): boolean {
  if (visibility === undefined || visibility.hidden.size === 0) return false;
  if (isObject(sent)) return [...visibility.hidden].some((name) => Object.hasOwn(sent, name));
  if (!Array.isArray(sent)) return false;
  const pointers = sent.flatMap((each: unknown) => (isObject(each) ? [each.path, each.from] : []));
  return pointers.some((pointer) => {
    if (typeof pointer !== "string") return false;
    const [name] = parsePointer(pointer) ?? [];
    return name === undefined || visibility.hidden.has(name);
  });
}

/** The attributes that a merge patch removes. A JSON Patch cannot remove an attribute that the caller does not see. */
export function removedBy({ format, value }: Patch): ReadonlySet<string> {
  if (format !== "merge-patch" || !isObject(value)) return new Set();
  return new Set(Object.keys(value).filter((name) => value[name] === null));
}
