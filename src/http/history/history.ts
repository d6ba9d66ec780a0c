/** Reads the past of resources: earlier versions, and the list of changes. */
import { pickFields } from "../../query/fields.ts";
import type { Store } from "../../store/store.ts";
import type { Key, Stored } from "../../store/stored.ts";
import type { Guard } from "../caller/permission.ts";
import { isUnmodified } from "../conditional.ts";
import type { HttpRequest } from "../message.ts";
import type { OperationOf } from "../operation.ts";
import { notFound, type Result } from "../result.ts";
import type { Service } from "../service.ts";
import { beforeNone } from "./request.ts";

/** Reads an earlier state of a resource. It is not found if the resource did not exist then, or if the store does not keep it. */
export async function readPast(
  service: Service,
  operation: OperationOf<"past">,
  request: HttpRequest,
): Promise<Result> {
  const { pointInTime, fields, path, guard } = operation;
  const { store } = service;
  const key = keyOf(operation);
  const stored =
    "version" in pointInTime
      ? await store.version(key, pointInTime.version)
      : await store.versionAt(key, pointInTime.at);
  // A caller who can no longer see the resource cannot see its past either.
  if (stored === undefined || !guard.sees(stored.text) || !(await seesLast(guard, store, key)))
    return notFound;
  const validators = guard.validators(stored);
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  return { kind: "found", stored: cut(guard.visiblePart(stored), fields), path, validators };
}

function cut(stored: Stored, fields: readonly string[] | undefined): Stored {
  return fields === undefined ? stored : { ...stored, text: pickFields(stored.text, new Set(fields)) };
}

/** Reads a page of changes. It is not found if the store keeps no change of the resource. */
export async function readChanges(service: Service, operation: OperationOf<"changes">): Promise<Result> {
  const { guard } = operation;
  const { limit, before } = operation.asked;
  const key = keyOf(operation);
  const last = await lastState(service.store, key);
  if (last === undefined || !guard.sees(last.text)) return notFound;
  const found = await service.store.changesOf(key, { before, limit: limit + 1 });
  if (found.length === 0 && before === beforeNone) return notFound;
  const showsPrincipal = service.settings.showPrincipal || guard.may("update", last.text);
  const changes = found.slice(0, limit).map((change) => ({
    ...change,
    principal: showsPrincipal ? change.principal : undefined,
    group: change.group === undefined ? undefined : service.tags.group(change.group),
  }));
  return { kind: "changes", operation, changes, more: found.length > limit };
}

/** Whether the caller can see the last state of a resource, also of a deleted one. */
async function seesLast(guard: Guard, store: Store, key: Key): Promise<boolean> {
  if (guard.visible === "everything") return true;
  const last = await lastState(store, key);
  return last !== undefined && guard.sees(last.text);
}

/** The current state of a resource, or its last state if it is deleted; `undefined` if neither is known. */
async function lastState(store: Store, key: Key): Promise<Stored | undefined> {
  const current = await store.read(key);
  if (current !== undefined) return current;
  const [last] = await store.changesOf(key, { before: beforeNone, limit: 1 });
  return last?.kind === "deleted" ? store.version(key, last.version - 1) : undefined;
}

function keyOf({ collection, id }: OperationOf<"past" | "changes">): Key {
  return { collection: collection.name, id };
}
