/** One task at work: its service, its request, and the caller whose rights it has. */
import { Socket } from "node:net";
import type { Principal } from "../../access/principal.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import type { Unique } from "../../collection/unique.ts";
import { Problem } from "../../errors.ts";
import { keyNamed } from "../../query/unique-keys.ts";
import type { Versioned } from "../../records.ts";
import type { DeletedQuery } from "../../store/port/page.ts";
import type { Task, TaskRequest } from "../../tasks/task.ts";
import { maxTaskResources } from "../../tasks/task.ts";
import type { Lease } from "../../tasks/task-loop.ts";
import type { TaskRecords } from "../../tasks/task-records.ts";
import { Admission, Ticket } from "../admission/ticket.ts";
import { askedIn } from "../batch/bulk.ts";
import { deletedFor, restoresIn } from "../batch/restores.ts";
import type { Caller } from "../caller/admit.ts";
import { administers, guardOf, viewFor } from "../caller/permission.ts";
import type { Bulk } from "../operations/operation.ts";
import { noContent } from "../protocol/content.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { findCollection, type Service } from "../service.ts";

/** A task at work. */
export interface TaskWork {
  service: Service;
  records: TaskRecords;
  task: Versioned<Task>;
  lease: Lease;
  request: TaskRequest;
  caller: Caller;
}

/** What a task does in one collection, with the rights that its caller has there now. */
export function operationIn({ service, caller }: Pick<TaskWork, "service" | "caller">, name: string): Bulk {
  const collection = viewFor(service, findCollection(service, name) ?? openCollection(name), caller);
  const path = `${service.settings.prefix}/${name}`;
  return { collection, path, guard: guardOf(service, collection, caller), caller };
}

/** The collection of an import. Its caller sets every attribute, because the access rules do not apply to imports. */
export function importedIn(service: Service, name: string): Collection {
  return { ...(findCollection(service, name) ?? openCollection(name)), visibility: undefined };
}

/**
 * The caller of a task as it is now: with the roles of the beginning that it still has. Throws INSUFFICIENT_SCOPE if its key was revoked, or if
 * its account has ended. A credential that has only expired does not end a task.
 */
export async function principalNow(service: Service, principal: Principal): Promise<Principal> {
  if (principal.key !== undefined) {
    const key = await service.keys?.store.find(principal.key);
    if (key?.revokedAt !== undefined)
      throw new Problem("INSUFFICIENT_SCOPE", "The API key that began the task was revoked. The task ended.");
  }
  return service.principalNow?.(principal) ?? principal;
}

/** Throws INSUFFICIENT_SCOPE if only administrators can begin such a task, and its caller no longer administers the service. */
export function requireAdministrator({ service, caller, task: { value } }: TaskWork): void {
  if ((value.kind !== "import" && value.kind !== "rewind") || administers(service, caller)) return;
  throw new Problem("INSUFFICIENT_SCOPE", "The caller of the task no longer administers the service.");
}

/** The resources that a task selects: of its collection, or deleted ones. */
interface Selecting {
  operation: Bulk;
  asked: ReturnType<typeof restoresIn>;
  deleted: DeletedQuery | undefined;
}

/** What a task that updates or deletes was asked to do. Throws if its caller cannot do it any more. */
export function bulkOf(work: TaskWork): Selecting & { asked: ReturnType<typeof askedIn> } {
  const { service, task, request } = work;
  const operation = operationIn(work, task.value.collection ?? "");
  const bytes = Buffer.from(request.content ?? "");
  return { operation, asked: askedIn(service, operation, bytes, maxTaskResources), deleted: undefined };
}

/** What a task that restores was asked to do. */
export function restoresOf(work: TaskWork): Selecting {
  const { service, task, request } = work;
  const operation = operationIn(work, task.value.collection ?? "");
  const bytes = Buffer.from(request.content ?? "");
  const asked = restoresIn(service, operation, bytes, maxTaskResources);
  return { operation, asked, deleted: deletedFor(service, operation) };
}

/** What an import as a task was asked to do, if it is by a unique key: the attributes of the key. */
export interface TaskImport {
  on: readonly string[];
}

/** The unique key of an import. Throws INVALID_PARAMETER if the collection does not have it any more. */
export function keyOfImport({ request: { content } }: TaskWork, collection: Collection): Unique | undefined {
  if (content === undefined) return undefined;
  const { on } = JSON.parse(content) as TaskImport;
  const key = keyNamed(on, collection);
  if (key !== undefined) return key;
  throw new Problem("INVALID_PARAMETER", `The collection no longer has the unique key ${on.join(" and ")}.`);
}

/** The request in whose name a task writes: that of the caller has ended long ago. */
export function requestOfTask(service: Service, id: string): HttpRequest {
  const socket = new Socket();
  const bounds = { maxHeldBytes: Number.POSITIVE_INFINITY, maxRequests: Number.POSITIVE_INFINITY };
  return {
    version: "1.1",
    method: "POST",
    target: "",
    headers: {},
    rawHeaders: [],
    id,
    client: { ip: undefined, protocol: "http" },
    socket,
    content: noContent,
    ticket: new Ticket(new Admission(service, bounds), { method: "POST", socket }),
  };
}
