/** Restores of many: restores all deleted resources that match a filter, or none of them, each to its last version. */
import { deletedOf } from "../../collection/deletions.ts";
import type { Change } from "../../store/port/commit.ts";
import type { DeletedQuery } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { createPauses, pauseAfter } from "../admission/turns.ts";
import { judged } from "../caller/judged.ts";
import { inPast } from "../caller/permission.ts";
import { deletionsFor } from "../lists/deleted.ts";
import type { Bulk } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { requireNoPreconditions } from "../protocol/conditional.ts";
import { readContent } from "../protocol/content.ts";
import type { Callers, Data, Service, Surface } from "../service.ts";
import type { CommitPlan, Write } from "../writes/commit.ts";
import { planRestore } from "../writes/restore.ts";
import { runWrite, type WriteSteps } from "../writes/write.ts";
import {
  bodyOf,
  explainer,
  leastBytes,
  maxBytes,
  type Selected,
  select,
  timeOf,
  tooLarge,
  turnsOf,
  withResource,
} from "./bulk.ts";
import { type BulkRequest, maxBulk, parseRestores } from "./bulk-content.ts";

/** What the content asks for, and the resources for the next attempt. */
interface RestoresContent extends Pick<BulkRequest, "filter" | "max" | "isDryRun">, Selected {}

/**
 * Restores the resources. Throws TOO_MANY_MATCHES, CONTENT_TOO_LARGE, the problem of the first resource that is refused with its
 * path, the problems of the content, and the store's.
 */
export function performRestores(write: Write<Bulk>): Promise<Result> {
  return runWrite(steps, write);
}

const steps: WriteSteps<Bulk, true, RestoresContent> = {
  find: async (write) => requireRestores(write),
  read: async (write) => {
    const { service, operation, request } = write;
    const bytes = await readContent(request, service.settings.limits);
    const asked = restoresIn(service, operation, bytes);
    await pauseAfter(bytes.length);
    return { ...asked, selected: await selectDeleted(write, asked) };
  },
  resources: ({ operation }, content) => turnsOf(operation, content),
  decide: async (write, _, content) => {
    const selected = content.selected ?? (await selectDeleted(write, content));
    content.selected = undefined; // if others overtake this attempt
    const { changes, at } = await decideAll(write, selected);
    const { isDryRun } = content;
    const body = bodyOf(write.operation, selected.length, { changes, isDryRun });
    const explain = explainer(write.operation, changes);
    return { kind: "plan", changes, at, isDryRun, result: { kind: "batch", body }, explain };
  },
};

/** Throws unless the caller can restore many resources of the collection. */
export function requireRestores({ operation: { guard }, request }: Write<Bulk>): true {
  requireNoPreconditions(request, "cannot be used here: it names one state of one resource");
  for (const action of ["list", "delete", "create"] as const)
    if (!guard.can(action)) throw guard.denied(action);
  return true;
}

/** What the content of a restore of many asks for. `most` is the largest `max`. Throws the problems of the content. */
export function restoresIn(
  service: Data & Callers & Surface,
  operation: Bulk,
  bytes: Buffer,
  most = maxBulk,
) {
  const { collection } = inPast(service, operation);
  const deleted = deletedOf(collection, deletionsFor(service, operation));
  return parseRestores(bytes, deleted, service.settings.limits, most);
}

/** The deleted resources that the caller selects from, for the store. */
export function deletedFor(service: Surface, operation: Bulk): DeletedQuery {
  return { ...deletionsFor(service, operation), hasMember: false };
}

function selectDeleted(write: Write<Bulk>, asked: Pick<BulkRequest, "filter" | "max">) {
  return select(write, asked, deletedFor(write.service, write.operation));
}

/** Decides about each resource. */
async function decideAll(
  write: Write<Bulk>,
  selected: readonly Stored[],
): Promise<Pick<CommitPlan, "changes" | "at">> {
  const { service, operation } = write;
  const at = timeOf(service, operation, selected);
  const changes: Change[] = [];
  const pause = createPauses();
  let bytes = 0;
  for (const last of selected) {
    try {
      changes.push(...(await decideRestore(write, last, at)));
    } catch (error) {
      throw withResource(error, operation, last.id);
    }
    bytes += Buffer.byteLength(last.text);
    if (bytes > maxBytes) throw tooLarge();
    await pause(leastBytes + last.text.length);
  }
  return { changes, at };
}

/** The change that restores a deleted resource to its last version. Throws what its own restore would. */
export async function decideRestore(
  { service, operation, request }: Write<Bulk>,
  last: Stored,
  at: number,
): Promise<readonly Change[]> {
  const deleted = { version: last.version + 1, at: last.updatedAt };
  const { guard } = operation;
  const state = await judged(service, guard, last);
  guard.require("delete", state);
  const inside: Service = { ...service, now: () => at };
  const write = { service: inside, operation: { ...operation, id: last.id }, request };
  return (await planRestore(write, { last: state, deleted }, last)).changes;
}
