/** Reads resources as they were: their versions, and the list of their changes. */
import { pickFields } from "../../query/fields.ts";
import type { Key, Stored } from "../../store/stored.ts";
import { guardOf, lastState, seesLast } from "../caller/permission.ts";
import { isUnmodified } from "../conditional.ts";
import type { HttpRequest } from "../message.ts";
import type { OperationOf } from "../operation.ts";
import type { Result } from "../result.ts";
import type { Service } from "../service.ts";
import { beforeNone } from "./request.ts";

/** Reads a resource as it was; one that was not there then, or of which nothing is kept, is absent. */
export async function readPast(
  service: Service,
  operation: OperationOf<"past">,
  request: HttpRequest,
): Promise<Result> {
  const { moment, fields, path } = operation;
  const key = keyOf(operation);
  const stored =
    "version" in moment
      ? await service.store.version(key, moment.version)
      : await service.store.versionAt(key, moment.at);
  const guard = guardOf(service, operation.collection, request);
  // What is not there any more for the caller was never there, whatever it was.
  if (stored === undefined || !guard.sees(stored.text) || !(await seesLast(guard, service.store, key)))
    return { kind: "absent" };
  const validators = guard.validators(stored);
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  return { kind: "found", stored: cut(guard.told(stored), fields), path, validators };
}

function cut(stored: Stored, fields: readonly string[] | undefined): Stored {
  return fields === undefined ? stored : { ...stored, text: pickFields(stored.text, new Set(fields)) };
}

/** Reads a page of changes; a resource of which none is kept has no such list. */
export async function readChanges(
  service: Service,
  operation: OperationOf<"changes">,
  request: HttpRequest,
): Promise<Result> {
  const { limit, before } = operation.asked;
  const key = keyOf(operation);
  const guard = guardOf(service, operation.collection, request);
  const last = await lastState(service.store, key);
  if (last === undefined || !guard.sees(last.text)) return { kind: "absent" };
  const found = await service.store.changesOf(key, { before, limit: limit + 1 });
  if (found.length === 0 && before === beforeNone) return { kind: "absent" };
  const showsPrincipal = service.settings.showPrincipal || guard.may("update", last.text);
  const changes = found.slice(0, limit).map((change) => ({
    ...change,
    principal: showsPrincipal ? change.principal : undefined,
    group: change.group === undefined ? undefined : service.tags.group(change.group),
  }));
  return { kind: "changes", operation, changes, more: found.length > limit };
}

function keyOf({ collection, id }: OperationOf<"past" | "changes">): Key {
  return { collection: collection.name, id };
}
