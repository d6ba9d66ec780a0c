/** Replaces, patches and deletes resources. */
import type { Judged } from "../../access/access.ts";
import type { Collection } from "../../collection/collection.ts";
import { visibilityWithoutRead } from "../../collection/visibility.ts";
import { hasKey, requireKey } from "../../query/unique-keys.ts";
import { isInternal } from "../../store/port/record.ts";
import type { Stored } from "../../store/port/stored.ts";
import { pauseAfter } from "../admission/turns.ts";
import { currentOf, judged } from "../caller/judged.ts";
import { type ChangeOperation, keyOf, type Replace } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { requirePreconditions } from "../protocol/conditional.ts";
import { readObject, requireWhole } from "../protocol/content.ts";
import type { PatchFormat } from "../protocol/content-types.ts";
import type { HttpSettings } from "../settings.ts";
import { type CommitPlan, timeOfChange, type Write } from "./commit.ts";
import { decide, type Proposed, proposePatch, proposeReplace, type WriteContext } from "./decide.ts";
import { changesWrites, completed } from "./hooks.ts";
import { namedIn, namesHidden, type Patch, patchNamesHidden, readPatch, revealsResource } from "./patch.ts";
import { planFor } from "./plan.ts";
import { hold, nameOf, runWrite, type WriteSteps } from "./write.ts";

/** Changes a resource. Throws the problems of preconditions and content, and the store's. */
export function change(write: Write<ChangeOperation>): Promise<Result> {
  return runWrite(steps, write);
}

/** The change that the content of a request asks for. It is the same for every resource. */
export interface ChangeContent {
  /** What it proposes for the resource; `undefined` deletes it. */
  propose(operation: ChangeOperation, context: WriteContext): Proposed | undefined | Promise<Proposed>;
  /** Whether to make a new version even if the text is the same, because the caller must not learn that it is. */
  isNewVersion: boolean;
  /** The attributes that the request names. Call it after `propose`, which refuses an invalid patch. */
  named: () => ReadonlySet<string>;
}

const steps: WriteSteps<ChangeOperation, Stored & Judged, ChangeContent> = {
  follows: ({ operation }) => operation.kind !== "delete" && !isInternal(operation.collection.name),
  find: async (write, pending) => {
    const { service, operation, request } = write;
    const { collection, guard } = operation;
    const key = keyOf(operation);
    const expected = pending?.get(nameOf(key))?.state;
    const current = await (expected === undefined
      ? currentOf(service, guard, key)
      : judged(service, guard, expected));
    if (current === undefined || !guard.sees(current)) return undefined;
    // The store hides what has expired, but not in a pending state.
    if (service.expired.isOver(key.collection, current.text)) return undefined;
    if (operation.key !== undefined && !hasKey(JSON.parse(current.text), operation.key)) return undefined;
    hold(write, current);
    requireRight(operation, current);
    const required = collection.requirePreconditions;
    requirePreconditions(request.headers, guard.validators(current), { required });
    return current;
  },
  read: async (write) => {
    const { service, operation, request } = write;
    if (operation.kind === "delete") return deletion;
    if (operation.kind === "replace") return readReplaceRequest(write, operation);
    const { settings } = service;
    return patchContent(settings, operation, await readPatch(request, operation.format, settings.limits));
  },
  resources: ({ operation }) => [nameOf(keyOf(operation))],
  decide: decideChange,
};

/** Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE if the caller cannot change this resource. */
export function requireRight({ kind, guard }: ChangeOperation, current: Stored & Judged): void {
  guard.require(kind === "delete" ? "delete" : "update", current);
}

/** The plan for a resource that the caller can change (`requireRight`). Throws the problems of the content. */
export async function decideChange(
  write: Write<ChangeOperation>,
  current: Stored & Judged,
  { propose, isNewVersion, named }: ChangeContent,
): Promise<CommitPlan> {
  const { service, operation } = write;
  const { kind, collection } = operation;
  const at = timeOfChange(service, collection, current);
  const proposed = await propose(operation, { at, before: current, isNewVersion });
  const { id, text: previous } = current;
  const hooked = { operation: "update", id, previous, now: at } as const;
  return planFor(write, {
    key: keyOf(operation),
    current,
    next: proposed && decide(await completed(write, proposed, hooked))(id),
    at,
    isNewVersion,
    named,
    isAsSent: kind !== "replace" || (isStoredAsSent(collection) && !changesWrites(write)),
  });
}

/** Deletes the resource. */
export const deletion: ChangeContent = {
  propose: () => undefined,
  isNewVersion: false,
  named: () => new Set(),
};

async function readReplaceRequest(
  { service, request }: Write,
  { guard, collection, id, key }: Replace,
): Promise<ChangeContent> {
  requireWhole(request);
  const sent = await readObject(request, service.settings.limits);
  if (key !== undefined) requireKey(sent, key);
  const content = key === undefined || Object.hasOwn(sent, "id") ? sent : { id, ...sent };
  return {
    propose: (operation, context) => proposeReplace(resourceFor(operation), content, context),
    isNewVersion: !guard.canRead || namesHidden(collection, content),
    named: () => new Set(Object.keys(content)),
  };
}

/** The change that a patch asks for. Throws if its outcome would reveal something that the caller cannot read. */
export function patchContent(
  { limits }: HttpSettings,
  { guard, collection }: Pick<ChangeOperation, "guard" | "collection">,
  patch: Patch,
): ChangeContent {
  if (!guard.canRead && revealsResource(patch, limits)) throw guard.denied("read", withoutRead[patch.format]);
  const named = guard.canRead ? undefined : namedIn(patch);
  return {
    propose: async (operation, context) => {
      const { text } = context.before;
      const value = JSON.parse(text) as Record<string, unknown>;
      await pauseAfter(text.length);
      return proposePatch(resourceFor(operation), patch, { ...context, named, value, limits });
    },
    isNewVersion: !guard.canRead || patchNamesHidden(collection, patch),
    named: () => namedIn(patch),
  };
}

const anyOther = "Any other operation would reveal what the resource contains.";

/** What a caller who cannot read can do with each format. */
const withoutRead = {
  "merge-patch": "",
  "json-patch": `Without this permission, a JSON Patch can only "add" whole attributes, such as {"op":"add","path":"/title","value":"A"}. ${anyOther}`,
  update: `Without this permission, an update can only $set and $unset whole attributes, such as {"title":{"$set":"A"}}. ${anyOther}`,
} as const satisfies Record<PatchFormat, string>;

/** The resource as the caller knows it. */
function resourceFor(operation: ChangeOperation): Pick<ChangeOperation, "collection" | "id"> {
  const { guard, collection, id } = operation;
  if (guard.canRead) return operation;
  return { collection: { ...collection, visibility: visibilityWithoutRead(collection.visibility) }, id };
}

/** Whether a replace stores exactly what the client sent. */
function isStoredAsSent({ timestamps, visibility }: Collection): boolean {
  return !timestamps && visibility === undefined;
}
