/**
 * Decides the next text of a resource in two halves: the content of a write and the current text become a proposal, and the proposal becomes
 * the text. These functions read nothing from the store and have no side effects.
 */
import type { Collection } from "../../collection/collection.ts";
import { type Creation, withDefaults } from "../../collection/defaults.ts";
import { sameId } from "../../collection/ids.ts";
import { type Proposal, textOf, violationsOf } from "../../collection/proposal.ts";
import { type Attributes, pickMembers, resourceText } from "../../collection/resource.ts";
import { clientAttributes, type PreviousVersion, withTimestamps } from "../../collection/timestamps.ts";
import {
  type AttributeVisibility,
  assignmentViolations,
  removalViolations,
  removalViolationsWithoutRead,
  visiblePart,
  visibleViolations,
  withKept,
} from "../../collection/visibility.ts";
import { Problem, toSentence, type Violation } from "../../errors.ts";
import { subjectAt, toFragment } from "../../json/pointer.ts";
import { hiddenMember, nextMember } from "../../query/embed-request.ts";
import { pauseAfter } from "../admission/turns.ts";
import type { Limits } from "../settings.ts";
import { applyPatch, type Patch, removedBy, requireNoStrayOperator, unreadableViolations } from "./patch.ts";

/** The resource that a write changes. */
interface ResourceIn {
  collection: Collection;
  id: string;
}

/** What a write changes, and when. */
export interface WriteContext {
  /** The time of the change. */
  at: number;
  /** The current version; of a deleted resource, its last one. */
  before: PreviousVersion;
  /** @default false */
  isDeleted?: boolean;
  /** Whether the write makes a new version even if nothing differs. @default false */
  isNewVersion?: boolean;
  /** The attributes that the write names; only if the caller cannot read. */
  named?: ReadonlySet<string> | undefined;
}

/** The resource that a patch changes. */
export interface PatchContext extends WriteContext {
  /** The value of the current text. */
  value: Record<string, unknown>;
  limits: Limits;
}

/** What a request proposes, and what its errors can show. */
export interface Proposed extends Proposal {
  readonly sent: Attributes;
  readonly isNew: boolean;
  /** The attributes that the request names; only if the caller cannot read. */
  readonly named?: ReadonlySet<string> | undefined;
}

/** What a create proposes. Ignores an `id` in the content. Throws VALIDATION_FAILED. */
export function proposeNew(
  collection: Collection,
  content: Record<string, unknown>,
  creation: Creation,
): Proposed {
  const sent = clientAttributes(collection, content);
  const { defaults, visibility } = collection;
  if (visibility !== undefined)
    requireNone(assignmentViolations(sent, withDefaults({}, defaults, creation), visibility));
  return {
    collection,
    attributes: withDefaults(sent, defaults, creation),
    sent,
    isNew: true,
    textWith: (attributes, id) => {
      const all = collection.timestamps ? withTimestamps(attributes, creation.at) : attributes;
      return resourceText(collection.idKind, id, all);
    },
  };
}

/** What a replace proposes. Throws ID_REQUIRED, ID_MISMATCH and VALIDATION_FAILED. */
export function proposeReplace(
  resource: ResourceIn,
  content: Record<string, unknown>,
  context: WriteContext,
): Proposed {
  requireId(content, resource.id);
  const { visibility } = resource.collection;
  return proposeChange(resource, content, {
    ...context,
    isKept: (name) => visibility?.hidden.has(name) === true || visibility?.readOnly.has(name) === true,
  });
}

/** What a patch proposes. Throws VALIDATION_FAILED, ID_MISMATCH and the problems of `applyPatch` and `requireNoStrayOperator`. */
export async function proposePatch(
  resource: ResourceIn,
  patch: Patch,
  context: PatchContext,
): Promise<Proposed> {
  const { collection } = resource;
  const { visibility } = collection;
  const { value, limits, before } = context;
  const seen = visibility === undefined ? value : visiblePart(value, visibility);
  // For a caller who cannot read, the error would reveal the type of the value.
  if (context.named === undefined) requireNoStrayOperator(patch, seen, collection);
  if (visibility === undefined) {
    const next = await applyPatch(patch, value, { collection, limits });
    await pauseAfter(before.text.length);
    return withLimit(proposeChange(resource, next, { ...context, isKept: () => false }), before, limits);
  }
  requireNone(unreadableViolations(patch, visibility));
  const removed = removedBy(patch);
  if (context.named !== undefined) requireNone(removalViolationsWithoutRead([...removed], visibility));
  const next = await applyPatch(patch, seen, { collection, limits });
  await pauseAfter(before.text.length);
  requireNone(removalViolations(next, value, visibility));
  const { hidden, restricted, readOnly } = visibility;
  const isRemoved = (name: string) => removed.has(name) && !restricted.has(name) && !readOnly.has(name);
  const isKept = (name: string) => hidden.has(name) && !isRemoved(name);
  return withLimit(proposeChange(resource, next, { ...context, isKept }), before, limits);
}

/** `isKept`: which attributes stay if the write leaves them out. */
type ChangeContext = WriteContext & { isKept: (name: string) => boolean };

function proposeChange(
  resource: ResourceIn,
  next: Record<string, unknown>,
  context: ChangeContext,
): Proposed {
  requireSameId(next, resource);
  const { collection } = resource;
  const { at, before, isDeleted = false, isNewVersion = false, named, isKept } = context;
  let parsed: Attributes | undefined;
  const current = () => {
    parsed ??= clientAttributes(collection, JSON.parse(before.text) as Record<string, unknown>);
    return parsed;
  };
  const sent = clientAttributes(collection, next);
  return {
    collection,
    attributes: withUnsent(collection, sent, { current, isKept }),
    before: current,
    sent,
    isNew: false,
    named,
    textWith: (attributes, id) => {
      const text = resourceText(collection.idKind, id, attributes);
      if (!collection.timestamps) return text;
      // The timestamps change only if something else differs.
      const isSame = text === resourceText(collection.idKind, id, current());
      if (isSame && !isDeleted && !isNewVersion) return before.text;
      return resourceText(collection.idKind, id, withTimestamps(attributes, at, before));
    },
  };
}

/** Checks a proposal. Returns a function that makes the text from the id. Throws VALIDATION_FAILED. */
export function decide(proposed: Proposed): (id: string) => string {
  if (proposed.named === undefined) requireValid(proposed);
  else requireValidUnread(proposed, proposed.named);
  return (id) => textOf(proposed, id);
}

/** The sent attributes, with the current values of attributes that the caller cannot see or set. */
function withUnsent(
  { visibility }: Collection,
  sent: Attributes,
  { current, isKept }: Pick<ChangeContext, "isKept"> & { current: () => Attributes },
): Attributes {
  if (visibility === undefined) return sent;
  requireNone(assignmentViolations(sent, current(), visibility));
  return withKept(sent, current(), isKept);
}

/** Throws ID_REQUIRED and ID_MISMATCH unless the body of a PUT has the id in the path. */
export function requireId(content: Record<string, unknown>, id: string): void {
  if (!Object.hasOwn(content, "id"))
    throw idProblem("ID_REQUIRED", `The body must contain the id of the resource, "${id}".`, "required");
  requireSameId(content, { id });
}

function requireSameId(next: Record<string, unknown>, { id }: Pick<ResourceIn, "id">): void {
  if (Object.hasOwn(next, "id") && sameId(next.id, id)) return;
  throw idProblem(
    "ID_MISMATCH",
    `The id in the body, or after the patch, must be the id of the resource, "${id}".`,
    "const",
  );
}

function idProblem(code: "ID_REQUIRED" | "ID_MISMATCH", detail: string, rule: string): Problem {
  return new Problem(code, detail, {
    violations: [{ in: "body", pointer: "#/id", code: rule, detail: "must be the id of the resource" }],
  });
}

function requireValid(proposed: Proposed): void {
  const found = violationsOf(proposed);
  if (found.length === 0) return;
  const { visibility, relations } = proposed.collection;
  const violations = found.map((each) => explainEmbedded(each, relations));
  requireNone(visibility === undefined ? violations : visibleViolations(violations, visibility, proposed));
}

/** Says that an unknown attribute is a member that `embed` adds to a response. */
function explainEmbedded(violation: Violation, relations: Collection["relations"]): Violation {
  const { code, pointer } = violation;
  if (code !== "unknownAttribute") return violation;
  const isEmbedded = [...relations.values()].some(
    ({ name, isRestricted }) => !isRestricted && pointer === toFragment([name]),
  );
  const isBeside =
    relations.size > 0 && [hiddenMember, nextMember].some((name) => pointer === toFragment([name]));
  if (!isEmbedded && !isBeside) return violation;
  return {
    ...violation,
    detail: "is not an attribute of the schema: it was embedded in a response. Leave it out",
  };
}

/** As `requireValid`, for a caller who cannot read: the violations show only attributes that the write names. */
function requireValidUnread(proposed: Proposed, named: ReadonlySet<string>): void {
  const { collection, attributes, sent } = proposed;
  const { visibility = unrestricted } = collection;
  const unnamed = Object.keys(attributes).filter((name) => !named.has(name));
  const hidden = new Set([...visibility.hidden, ...unnamed]);
  requireValid({
    ...proposed,
    collection: { ...collection, visibility: { ...visibility, hidden }, relations: new Map() },
    before: undefined,
    sent: pickMembers(sent, (name) => named.has(name)),
  });
}

const unrestricted: AttributeVisibility = { readOnly: new Set(), restricted: new Set(), hidden: new Set() };

/** Throws VALIDATION_FAILED if there are violations. */
function requireNone(violations: readonly Violation[]): void {
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

/** The same proposal, whose text must be within the limit of a patch. It throws CONTENT_TOO_LARGE. */
function withLimit(proposed: Proposed, before: PreviousVersion, limits: Limits): Proposed {
  const textWith: Proposed["textWith"] = (...all) => withinLimit(proposed.textWith(...all), before, limits);
  return { ...proposed, textWith };
}

/** A patch cannot make a resource larger than a replace can. A resource that is larger already can keep its size. */
function withinLimit(text: string, before: PreviousVersion, { bodyBytes }: Limits): string {
  if (text.length * 3 <= bodyBytes || Buffer.byteLength(text) <= bodyBytes) return text;
  if (Buffer.byteLength(text) <= Buffer.byteLength(before.text)) return text;
  throw new Problem(
    "CONTENT_TOO_LARGE",
    `The patch would make the resource larger than the limit of ${bodyBytes} bytes.`,
  );
}
