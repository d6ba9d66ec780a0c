/** What a write makes of a resource: pure functions from the content and the current text to the next text. */
import type { Attributes, Collection } from "../collection/collection.ts";
import { sameId } from "../collection/ids.ts";
import { resourceText, withoutId } from "../collection/resource.ts";
import { Problem, toSentence } from "../errors.ts";
import { isObject, parseJson, requireObject } from "../json/gate.ts";
import { applyJsonPatch } from "../json/json-patch.ts";
import { applyMergePatch } from "../json/merge-patch.ts";
import type { PatchFormat } from "./operation.ts";
import type { Limits } from "./settings.ts";

/** The content of a write, read and checked as JSON: the same on every try. */
export type WriteContent =
  | { kind: "resource"; value: Record<string, unknown> }
  | { kind: PatchFormat; value: unknown };

/** Reads the content of a create or replace. Throws the problems of the JSON gate and BODY_NOT_OBJECT. */
export function parseResource(bytes: Buffer, limits: Limits): WriteContent & { kind: "resource" } {
  return { kind: "resource", value: requireObject(parseJson(bytes, jsonLimits(limits))) };
}

/** Reads the content of a patch. Throws INVALID_PATCH and the problems of the JSON gate. */
export function parsePatch(bytes: Buffer, format: PatchFormat, limits: Limits): WriteContent {
  const value = parseJson(bytes, jsonLimits(limits));
  if (format === "merge-patch" && !isObject(value)) {
    throw new Problem(
      "INVALID_PATCH",
      "A merge patch is a JSON object. For a list of operations send Content-Type: application/json-patch+json.",
    );
  }
  return { kind: format, value };
}

/** The problem of content that should be a patch: what is not JSON, or not there at all, is none. */
export function patchProblem(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  if (error.code !== "MALFORMED_JSON" && error.code !== "BODY_REQUIRED") return error;
  return new Problem("INVALID_PATCH", error.message);
}

/**
 * Checks a new resource, and gives what makes its text once it has an id. An `id` in the content is ignored,
 * whatever it is. Throws VALIDATION_FAILED.
 */
export function decideCreate(
  collection: Collection,
  content: WriteContent & { kind: "resource" },
): (id: string) => string {
  const attributes = withoutId(content.value);
  requireValid(collection, attributes);
  return (id) => resourceText(collection.idKind, id, attributes);
}

/** The text that a replace or patch leaves behind. Throws the 400s, 409s and 413s that only the current text can show. */
export function decideUpdate(
  target: { collection: Collection; id: string },
  content: WriteContent,
  current: { text: string; limits: Limits },
): string {
  const { collection, id } = target;
  const next = content.kind === "resource" ? content.value : applyPatch(content, current);
  if (content.kind === "resource") requireId(next, id);
  requireSameId(next, target);
  const attributes = withoutId(next);
  requireValid(collection, attributes);
  const text = resourceText(collection.idKind, id, attributes);
  if (content.kind !== "resource") requireRoom(text, current);
  return text;
}

function applyPatch(
  content: WriteContent,
  { text, limits }: { text: string; limits: Limits },
): Record<string, unknown> {
  const document: unknown = JSON.parse(text);
  const json = jsonLimits(limits);
  if (content.kind === "json-patch") {
    const { patchOperations: maxOperations, bodyBytes: maxBytes } = limits;
    return requireObject(applyJsonPatch(document, content.value, { maxOperations, maxBytes, json }));
  }
  return requireObject(applyMergePatch(document, content.value, json));
}

function requireId(next: Record<string, unknown>, id: string): void {
  if (Object.hasOwn(next, "id")) return;
  throw idProblem("ID_REQUIRED", `The content must carry the id of the resource, "${id}".`, "required");
}

function requireSameId(
  next: Record<string, unknown>,
  { collection, id }: { collection: Collection; id: string },
): void {
  if (Object.hasOwn(next, "id") && sameId(collection.idKind, next.id, id)) return;
  throw idProblem(
    "ID_MISMATCH",
    `The id in the content, or after the patch, is not the id in the path, "${id}".`,
    "const",
  );
}

function idProblem(code: "ID_REQUIRED" | "ID_MISMATCH", detail: string, rule: string): Problem {
  return new Problem(code, detail, {
    violations: [{ in: "body", pointer: "#/id", code: rule, detail: "must be the id in the path" }],
  });
}

function requireValid(collection: Collection, attributes: Attributes): void {
  const violations = collection.validate(attributes);
  const [first] = violations;
  if (first === undefined) return;
  const others = violations.length === 1 ? "" : ` And ${violations.length - 1} more.`;
  throw new Problem("VALIDATION_FAILED", `${first.pointer ?? "#"} ${toSentence(first.detail)}${others}`, {
    violations,
  });
}

/** A patch may not make a resource larger than a replace could; one that was so already may stay so. */
function requireRoom(text: string, current: { text: string; limits: Limits }): void {
  const { bodyBytes } = current.limits;
  if (text.length * 3 <= bodyBytes || Buffer.byteLength(text) <= bodyBytes) return;
  if (Buffer.byteLength(text) > Buffer.byteLength(current.text)) {
    throw new Problem(
      "CONTENT_TOO_LARGE",
      `The patch would make the resource larger than the limit of ${bodyBytes} bytes.`,
    );
  }
}

function jsonLimits(limits: Limits): { depth: number; members: number } {
  return { depth: limits.jsonDepth, members: limits.jsonMembers };
}
