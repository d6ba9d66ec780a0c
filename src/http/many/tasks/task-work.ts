/** One task at work: its service, its request, and the caller whose rights it has. */
import { Socket } from "node:net";
import type { Principal } from "../../../access/principal.ts";
import { openCollection } from "../../../collection/collection.ts";
import { Problem } from "../../../errors.ts";
import type { Versioned } from "../../../records.ts";
import type { Task, TaskRequest } from "../../../tasks/task.ts";
import type { Lease } from "../../../tasks/task-loop.ts";
import type { TaskRecords } from "../../../tasks/task-records.ts";
import type { Counting } from "../../admission/exact-counts.ts";
import { Admission, Ticket } from "../../admission/ticket.ts";
import type { Caller } from "../../caller/admit.ts";
import { guardOf, viewFor } from "../../caller/permission.ts";
import type { Bulk } from "../../operations/operation.ts";
import { noContent } from "../../protocol/content.ts";
import type { HttpRequest } from "../../protocol/message.ts";
import {
  type Administration,
  type Callers,
  findCollection,
  type Service,
  type Surface,
} from "../../service.ts";

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

/**
 * The caller of a task as it is now: with the roles of the beginning that it still has. Throws INSUFFICIENT_SCOPE if its key was revoked, or if
 * its account has ended. A credential that has only expired does not end a task.
 */
export async function principalNow(
  service: Callers & Administration,
  principal: Principal,
): Promise<Principal> {
  if (principal.key !== undefined) {
    const key = await service.keys?.store.find(principal.key);
    if (key?.revokedAt !== undefined)
      throw new Problem("INSUFFICIENT_SCOPE", "The API key that began the task was revoked. The task ended.");
  }
  return service.principalNow?.(principal) ?? principal;
}

/** The request in whose name a task writes: that of the caller has ended long ago. */
export function requestOfTask(service: Counting & Surface, id: string): HttpRequest {
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
