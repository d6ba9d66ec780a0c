/** What a write makes of a resource: pure functions from the content and the current text to the next text. */

import type { Collection } from "../collection/collection.ts";
import { type Creation, withDefaults } from "../collection/defaults.ts";
import {
  assignmentViolations,
  removalViolations,
  removalViolationsWithoutRead,
  visibleViolations,
  withKept,
} from "../collection/hidden-attributes.ts";
import { sameId } from "../collection/ids.ts";
import type { Attributes } from "../collection/resource.ts";
import { pickFrom, resourceText } from "../collection/resource.ts";
import { clientAttributes, type Earlier, withTimes } from "../collection/timestamps.ts";
import { type AttributeVisibility, visiblePart } from "../collection/visibility.ts";
import { Problem, toSentence, type Violation } from "../errors.ts";
import { isObject, parseJson, requireObject } from "../json/gate.ts";
import { applyJsonPatch } from "../json/json-patch.ts";
import { applyMergePatch } from "../json/merge-patch.ts";
import { parseOperations } from "../json/patch-operations.ts";
import { parsePointer, subjectAt } from "../json/pointer.ts";
import type { PatchFormat } from "./negotiation/content-types.ts";
import type { Limits } from "./settings.ts";

/** A patch, read and checked as JSON: the same on every try. */
export interface Patch {
  format: PatchFormat;
  value: unknown;
}

/** When a change happens, and what it changes. */
export interface Moment {
  at: number;
  /** The current version; of a deleted resource, the one that is written anew. */
  before: Earlier;
  /** @default false */
  isDeleted?: boolean;
  /** Whether the write makes a new version even if nothing differs, since its sender may not learn that. @default false */
  isBlind?: boolean;
  /** The attributes that the write names, if its sender may not read. @default the sender may read */
  named?: ReadonlySet<string>;
  /** Which attributes stay that are left out. @default none */
  isKept?: (name: string) => boolean;
}

/** The resource that a patch is applied to, and the value of its text. */
export interface Current extends Moment {
  value: unknown;
  limits: Limits;
}

/** Reads content that may be any JSON. Throws the problems of the JSON gate. */
export function parseContent(bytes: Buffer, limits: Limits): unknown {
  return parseJson(bytes, jsonLimits(limits));
}

/** Reads the content of a create or replace. Throws the problems of the JSON gate and BODY_NOT_OBJECT. */
export function parseResource(bytes: Buffer, limits: Limits): Record<string, unknown> {
  return requireObject(parseJson(bytes, jsonLimits(limits)), {
    insteadOfArray: 'send one resource per request, or several as a batch to "_batch"',
  });
}

/** Reads the content of a patch. Throws INVALID_PATCH and the problems of the JSON gate. */
export function parsePatch(bytes: Buffer, format: PatchFormat, limits: Limits): Patch {
  const value = parseJson(bytes, jsonLimits(limits));
  if (format === "merge-patch" && !isObject(value)) {
    throw new Problem(
      "INVALID_PATCH",
      "A merge patch must be a JSON object. For a JSON Patch, send Content-Type: application/json-patch+json.",
    );
  }
  return { format, value };
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
  content: Record<string, unknown>,
  creation: Creation,
): (id: string) => string {
  const sent = clientAttributes(collection, content);
  const { defaults, visibility } = collection;
  if (visibility !== undefined)
    requireNoFaults(assignmentViolations(sent, withDefaults({}, defaults, creation), visibility));
  const attributes = withDefaults(sent, defaults, creation);
  requireValid(collection, attributes, { sent, isNew: true });
  const all = collection.timestamps ? withTimes(attributes, creation.at) : attributes;
  return (id) => resourceText(collection.idKind, id, all);
}

/** The text that a replace leaves behind. Throws ID_REQUIRED, ID_MISMATCH and VALIDATION_FAILED. */
export function decideReplace(target: Target, content: Record<string, unknown>, moment: Moment): string {
  requireId(content, target.id);
  const { visibility } = target.collection;
  return textOf(target, content, {
    ...moment,
    isKept: (name) => visibility?.hidden.has(name) === true || visibility?.readOnly.has(name) === true,
  });
}

/** The text that a patch leaves behind. Throws the 400s, 409s and 413s that only the current resource can show. */
export function decidePatch(target: Target, patch: Patch, current: Current): string {
  const { visibility } = target.collection;
  if (visibility === undefined) return withRoom(textOf(target, applyPatch(patch, current), current), current);
  if (current.named !== undefined)
    requireNoFaults(removalViolationsWithoutRead(patchedAway(patch), visibility));
  const seen = { ...current, value: visiblePart(current.value as Record<string, unknown>, visibility) };
  const next = applyPatch(patch, seen);
  requireNoFaults(removalViolations(next, current.value as Record<string, unknown>, visibility));
  const isKept = (name: string) =>
    visibility.hidden.has(name) && !(isOpenTo(visibility, name) && removes(patch, name));
  return withRoom(textOf(target, next, { ...current, isKept }), current);
}

/**
 * Whether the outcome of a patch reveals what is there. Adding a whole attribute does not, since it replaces any value; a
 * merge patch does not, since it always fits. Throws INVALID_PATCH.
 */
export function readsAnything({ format, value }: Patch, { patchOperations }: Limits): boolean {
  if (format === "merge-patch") return false;
  return parseOperations(value, patchOperations).some(({ op, path }) => op !== "add" || path.length > 1);
}

/** The attributes that a patch names. */
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

/** Whether a write names attributes that its sender cannot read. That their values are the same must not be told. */
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

/** Whether an attribute can be set by somebody with this visibility. */
function isOpenTo({ restricted, readOnly }: AttributeVisibility, name: string): boolean {
  return !restricted.has(name) && !readOnly.has(name);
}

/** The attributes that a merge patch takes away. */
function patchedAway(patch: Patch): readonly string[] {
  return isObject(patch.value) ? Object.keys(patch.value).filter((name) => removes(patch, name)) : [];
}

/** Whether a merge patch takes an attribute away. In any other, an attribute that is not seen is not there. */
function removes({ format, value }: Patch, name: string): boolean {
  return format === "merge-patch" && isObject(value) && Object.hasOwn(value, name) && value[name] === null;
}

/** The resource that a write is about. */
interface Target {
  collection: Collection;
  id: string;
}

function textOf(target: Target, next: Record<string, unknown>, moment: Moment): string {
  requireSameId(next, target);
  const { collection, id } = target;
  const sent = clientAttributes(collection, next);
  const attributes = collection.visibility === undefined ? sent : wholeOf(collection, sent, moment);
  requireValid(senderOf(collection, attributes, moment), attributes, {
    sent: sentBy(sent, moment),
    isNew: false,
  });
  const text = resourceText(collection.idKind, id, attributes);
  return collection.timestamps ? stampedText(target, { attributes, text }, moment) : text;
}

/** The collection as the sender of a write sees it. A sender who may not read sees only the attributes that the write names. */
function senderOf(
  { validate, visibility }: Collection,
  attributes: Attributes,
  { named }: Moment,
): Pick<Collection, "validate" | "visibility"> {
  if (named === undefined) return { validate, visibility };
  const unnamed = Object.keys(attributes).filter((name) => !named.has(name));
  const { readOnly, restricted, hidden } = visibility ?? seesAll;
  return { validate, visibility: { readOnly, restricted, hidden: new Set([...hidden, ...unnamed]) } };
}

const seesAll: AttributeVisibility = { readOnly: new Set(), restricted: new Set(), hidden: new Set() };

function sentBy(attributes: Attributes, { named }: Moment): Attributes {
  return named === undefined ? attributes : pickFrom(attributes, (name) => named.has(name));
}

/** With what its sender does not see or may not set. */
function wholeOf(
  collection: Collection,
  sent: Attributes,
  { before, isKept = nothingKept }: Moment,
): Attributes {
  const { visibility } = collection;
  if (visibility === undefined) return sent;
  const current = clientAttributes(collection, JSON.parse(before.text) as Record<string, unknown>);
  requireNoFaults(assignmentViolations(sent, current, visibility));
  return withKept(sent, current, isKept);
}

const nothingKept = () => false;

/** The text with the service's own times; the one before where nothing else changes. */
function stampedText(
  { collection, id }: Target,
  next: { attributes: Attributes; text: string },
  { at, before, isDeleted = false, isBlind = false }: Moment,
): string {
  const known = clientAttributes(collection, JSON.parse(before.text) as Record<string, unknown>);
  if (!isDeleted && !isBlind && next.text === resourceText(collection.idKind, id, known)) return before.text;
  return resourceText(collection.idKind, id, withTimes(next.attributes, at, before));
}

const patched = { subject: "The result of the patch", insteadOfArray: "a resource is an object" };

function applyPatch(patch: Patch, { value, limits }: Current): Record<string, unknown> {
  const json = jsonLimits(limits);
  if (patch.format === "merge-patch")
    return requireObject(applyMergePatch(value, patch.value, json), patched);
  const { patchOperations: maxOperations, bodyBytes: maxBytes } = limits;
  return requireObject(applyJsonPatch(value, patch.value, { maxOperations, maxBytes, json }), patched);
}

function requireId(next: Record<string, unknown>, id: string): void {
  if (Object.hasOwn(next, "id")) return;
  throw idProblem("ID_REQUIRED", `The body must contain the id of the resource, "${id}".`, "required");
}

function requireSameId(next: Record<string, unknown>, { id }: Target): void {
  if (Object.hasOwn(next, "id") && sameId(next.id, id)) return;
  throw idProblem(
    "ID_MISMATCH",
    `The id in the body, or after the patch, must be the id in the path, "${id}".`,
    "const",
  );
}

function idProblem(code: "ID_REQUIRED" | "ID_MISMATCH", detail: string, rule: string): Problem {
  return new Problem(code, detail, {
    violations: [{ in: "body", pointer: "#/id", code: rule, detail: "must be the id in the path" }],
  });
}

function requireValid(
  { validate, visibility }: Pick<Collection, "validate" | "visibility">,
  attributes: Attributes,
  told: { sent: Attributes; isNew: boolean },
): void {
  const violations = validate(attributes);
  if (violations.length === 0) return;
  requireNoFaults(visibility === undefined ? violations : visibleViolations(violations, visibility, told));
}

function requireNoFaults(violations: readonly Violation[]): void {
  const [first] = violations;
  if (first === undefined) return;
  const subject = subjectAt(first.pointer ?? "#", "The resource");
  const message = `${subject} ${toSentence(first.detail)}${moreThan(violations.length)}`;
  throw new Problem("VALIDATION_FAILED", message, { violations });
}

function moreThan(count: number): string {
  if (count === 1) return "";
  return count === 2 ? " There is 1 more violation." : ` There are ${count - 1} more violations.`;
}

/** A patch may not make a resource larger than a replace could; one that was so already may stay so. */
function withRoom(text: string, current: Current): string {
  const { bodyBytes } = current.limits;
  if (text.length * 3 <= bodyBytes || Buffer.byteLength(text) <= bodyBytes) return text;
  if (Buffer.byteLength(text) > Buffer.byteLength(current.before.text)) {
    throw new Problem(
      "CONTENT_TOO_LARGE",
      `The patch would make the resource larger than the limit of ${bodyBytes} bytes.`,
    );
  }
  return text;
}

function jsonLimits(limits: Limits): { depth: number; members: number } {
  return { depth: limits.jsonDepth, members: limits.jsonMembers };
}
