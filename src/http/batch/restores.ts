/** Restores of many: restores all deleted resources that match a filter, or none of them, each to its last version. */
import { deletedOf } from "../../collection/deletions.ts";
import type { Change } from "../../store/port/commit.ts";
import type { Stored } from "../../store/port/stored.ts";
import { createPauses, pauseAfter } from "../admission/turns.ts";
import { deletionsFor } from "../lists/deleted.ts";
import { type Bulk, keyOf } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { requireNoPreconditions } from "../protocol/conditional.ts";
import { readContent } from "../protocol/content.ts";
import type { Service } from "../service.ts";
import type { CommitPlan, Write } from "../writes/commit.ts";
import { planRestore } from "../writes/restore.ts";
import { nameOf, runWrite, type WriteSteps } from "../writes/write.ts";
import { bodyOf, explainer, leastBytes, maxBytes, select, timeOf, tooLarge, withResource } from "./bulk.ts";
import { type BulkRequest, parseRestores } from "./bulk-content.ts";

/** What the content asks for, and the resources for the next attempt. */
interface RestoresContent extends Pick<BulkRequest, "filter" | "max" | "isDryRun"> {
  /** `undefined`: they must be selected again. */
  selected: readonly Stored[] | undefined;
}

/**
 * Restores the resources. Throws TOO_MANY_MATCHES, CONTENT_TOO_LARGE, the problem of the first resource that is refused with its
 * path, the problems of the content, and the store's.
 */
export function performRestores(write: Write<Bulk>): Promise<Result> {
  return runWrite(steps, write);
}

const steps: WriteSteps<Bulk, true, RestoresContent> = {
  find: async ({ operation: { guard }, request }) => {
    requireNoPreconditions(request, "cannot be used here: it names one state of one resource");
    for (const action of ["list", "delete", "create"] as const)
      if (!guard.can(action)) throw guard.denied(action);
    return true;
  },
  read: async (write) => {
    const { service, operation, request } = write;
    const { limits } = service.settings;
    const bytes = await readContent(request, limits);
    const asked = parseRestores(
      bytes,
      deletedOf(operation.collection, deletionsFor(service, operation)),
      limits,
    );
    await pauseAfter(bytes.length);
    return { ...asked, selected: await selectDeleted(write, asked) };
  },
  // One at a time, as bulk changes.
  resources: ({ operation }, { selected = [], isDryRun }) =>
    isDryRun ? [] : ["bulk", ...selected.map((each) => nameOf(keyOf({ ...operation, id: each.id }))).sort()],
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

function selectDeleted(write: Write<Bulk>, asked: Pick<BulkRequest, "filter" | "max">) {
  return select(write, asked, { ...deletionsFor(write.service, write.operation), hasMember: false });
}

/** Decides about each resource as its own restore would. */
async function decideAll(
  { service, operation, request }: Write<Bulk>,
  selected: readonly Stored[],
): Promise<Pick<CommitPlan, "changes" | "at">> {
  const at = timeOf(service, operation, selected);
  const inside: Service = { ...service, now: () => at };
  const changes: Change[] = [];
  const pause = createPauses();
  let bytes = 0;
  for (const last of selected) {
    const own = { ...operation, id: last.id };
    const deleted = { version: last.version + 1, at: last.updatedAt };
    try {
      operation.guard.require("delete", last.text);
      const write = { service: inside, operation: own, request };
      const plan = await planRestore(write, { last, deleted }, last);
      changes.push(...plan.changes);
    } catch (error) {
      throw withResource(error, operation, last.id);
    }
    bytes += Buffer.byteLength(last.text);
    if (bytes > maxBytes) throw tooLarge();
    await pause(leastBytes + last.text.length);
  }
  return { changes, at };
}
