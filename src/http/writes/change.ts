/** Replaces, patches and deletes resources. */
import type { Collection } from "../../collection/collection.ts";
import { visibilityWithoutRead } from "../../collection/visibility.ts";
import { Problem } from "../../errors.ts";
import type { Stored } from "../../store/stored.ts";
import { pauseAfter } from "../limits/turns.ts";
import { keyOf, type OperationOf } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { requirePreconditions } from "../protocol/conditional.ts";
import { readObject } from "../protocol/content.ts";
import { timeOfChange, type Write } from "./commit.ts";
import { decidePatch, decideReplace, type WriteContext } from "./decide.ts";
import { namedIn, namesHidden, readPatch, revealsResource } from "./patch.ts";
import { hold, nameOf, planFor, runWrite, type WriteSteps } from "./write.ts";

type ChangeOperation = OperationOf<"replace" | "patch" | "delete">;

/** Changes a resource. Throws the problems of preconditions and content, and the store's. */
export function change(write: Write<ChangeOperation>): Promise<Result> {
  return runWrite(steps, write);
}

/** The change that the body asks for. */
interface Requested {
  /** The next text; `undefined` deletes the resource. */
  next(context: WriteContext): string | undefined | Promise<string>;
  /** Whether to make a new version even if the text is the same, because the caller must not learn that it is. */
  isNewVersion: boolean;
  /** The attributes that the request names. Call it after `next`, which refuses an invalid patch. */
  named: () => ReadonlySet<string>;
}

const steps: WriteSteps<ChangeOperation, Stored, Requested> = {
  find: async (write) => {
    const { service, operation, request } = write;
    const { kind, collection, guard } = operation;
    const current = await service.store.read(keyOf(operation));
    if (current === undefined || !guard.sees(current.text)) return undefined;
    hold(write, current);
    guard.require(kind === "delete" ? "delete" : "update", current.text);
    const required = collection.requirePreconditions;
    requirePreconditions(request.headers, guard.validators(current), { required });
    return current;
  },
  read: async (write) => {
    const { operation } = write;
    if (operation.kind === "delete") return deletion;
    return operation.kind === "patch"
      ? readPatchRequest(write, operation)
      : readReplaceRequest(write, operation);
  },
  resources: ({ operation }) => [nameOf(keyOf(operation))],
  decide: async (write, current, { next, isNewVersion, named }) => {
    const { service, operation } = write;
    const { kind, collection } = operation;
    const at = timeOfChange(service, collection, current);
    return planFor(write, {
      key: keyOf(operation),
      current,
      next: await next({ at, before: current, isNewVersion }),
      at,
      isNewVersion,
      named,
      isAsSent: kind !== "replace" || isStoredAsSent(collection),
    });
  },
};

const deletion: Requested = { next: () => undefined, isNewVersion: false, named: () => new Set() };

async function readReplaceRequest(
  { service, request }: Write,
  operation: OperationOf<"replace">,
): Promise<Requested> {
  // RFC 9110 §14.5: a part of a representation must not be taken for the whole.
  if (request.headers["content-range"] !== undefined) throw partialReplace();
  const content = await readObject(request, service.settings.limits);
  return {
    next: (context) => decideReplace(resourceFor(operation), content, context),
    isNewVersion: !operation.guard.canRead || namesHidden(operation.collection, content),
    named: () => new Set(Object.keys(content)),
  };
}

async function readPatchRequest(
  { service, request }: Write,
  operation: OperationOf<"patch">,
): Promise<Requested> {
  const { limits } = service.settings;
  const { guard, collection, format } = operation;
  const patch = await readPatch(request, format, limits);
  if (!guard.canRead && revealsResource(patch, limits)) throw guard.denied("read", onlyAdd);
  const named = guard.canRead ? undefined : namedIn(patch);
  return {
    next: async (context) => {
      const { text } = context.before;
      const value = JSON.parse(text) as Record<string, unknown>;
      await pauseAfter(text.length);
      return decidePatch(resourceFor(operation), patch, { ...context, named, value, limits });
    },
    isNewVersion: !guard.canRead || namesHidden(collection, patch.value),
    named: () => namedIn(patch),
  };
}

const onlyAdd =
  'Without this permission, a JSON Patch can only "add" whole attributes, such as {"op":"add","path":"/title","value":"A"}. Any other operation would reveal what the resource contains.';

/** The resource as the caller knows it. */
function resourceFor(operation: ChangeOperation): Pick<ChangeOperation, "collection" | "id"> {
  const { guard, collection, id } = operation;
  if (guard.canRead) return operation;
  return { collection: { ...collection, visibility: visibilityWithoutRead(collection.visibility) }, id };
}

function partialReplace(): Problem {
  return new Problem(
    "INVALID_PARAMETER",
    "PUT replaces the whole resource and does not accept Content-Range. To change a part, use PATCH.",
    {
      violations: [{ in: "header", name: "Content-Range", code: "contentRange", detail: "leave it out" }],
    },
  );
}

/** Whether a replace stores exactly what the client sent. */
function isStoredAsSent({ timestamps, visibility }: Collection): boolean {
  return !timestamps && visibility === undefined;
}
