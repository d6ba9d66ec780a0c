/**
 * Bulk changes: changes all resources that match a filter with one request, or none of them. Each resource changes as if it had its own
 * request with the selected version as its precondition.
 */
import { idJson } from "../../collection/ids.ts";
import { Problem } from "../../errors.ts";
import type { Change } from "../../store/port/commit.ts";
import type { DeletedQuery, ListQuery } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { createPauses, pauseAfter } from "../admission/turns.ts";
import { judged } from "../caller/judged.ts";
import { storeFilter, viewsOf } from "../caller/permission.ts";
import { narrowed, readPage } from "../lists/lists.ts";
import type { Bulk } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { requireNoPreconditions } from "../protocol/conditional.ts";
import { readContent } from "../protocol/content.ts";
import { resourcePath } from "../route.ts";
import type { Callers, Clock, Data, Service, Surface } from "../service.ts";
import { type ChangeContent, decideChange, deletion, patchContent, requireRight } from "../writes/change.ts";
import type { CommitPlan, Write } from "../writes/commit.ts";
import { hold, largeTurn, nameOf, runWrite, type WriteSteps } from "../writes/write.ts";
import { type BulkRequest, insideUpdate, maxBulk, parseBulk } from "./bulk-content.ts";

/**
 * The limit of the changed resources, in bytes, each before or after the change, together with the changes that follow from
 * deletes. They stay in memory until one transaction writes them. The writer needs about 250 ms for this many.
 */
export const maxBytes = 4 * 1024 * 1024;

/** A smaller resource, with a smaller patch, takes as much time as one of this many bytes. */
export const leastBytes = 1_024;

type BulkWrite = Write<Bulk>;

/** The resources for the next attempt. */
export interface Selected {
  /** `undefined`: they must be selected again. */
  selected: readonly Stored[] | undefined;
}

/** What the content asks for, and the resources for the next attempt. */
interface BulkContent extends BulkRequest, Selected {
  change: ChangeContent;
}

/**
 * Changes the resources. Throws TOO_MANY_MATCHES, CONTENT_TOO_LARGE, the problem of the first resource that is refused with its
 * path, the problems of the content, and the store's.
 */
export function performBulk(write: BulkWrite): Promise<Result> {
  return runWrite(steps, write);
}

const steps: WriteSteps<Bulk, true, BulkContent> = {
  find: async (write) => requireBulk(write),
  read: async (write) => {
    const { service, operation, request } = write;
    const bytes = await readContent(request, service.settings.limits);
    const asked = askedIn(service, operation, bytes);
    await pauseAfter(bytes.length);
    return { ...asked, selected: await select(write, asked) };
  },
  resources: ({ operation }, content) => turnsOf(operation, content),
  decide: async (write, _, content) => {
    const selected = content.selected ?? (await select(write, content));
    content.selected = undefined; // if others overtake this attempt
    const { changes, at } = await decideAll(write, selected, content);
    const { isDryRun } = content;
    return {
      kind: "plan",
      changes,
      at,
      isDryRun,
      maxCascadeText: content.patch === undefined ? maxBytes - sizeOf(selected) : undefined,
      result: { kind: "batch", body: bodyOf(write.operation, selected.length, { changes, isDryRun }) },
      explain: explainer(write.operation, changes),
    };
  },
};

/** The queues of the selected resources, and the one that lets large changes run one at a time. A dry run waits in none. */
export function turnsOf(
  { collection }: Bulk,
  { selected = [], isDryRun }: Selected & Pick<BulkRequest, "isDryRun">,
): string[] {
  if (isDryRun) return [];
  return [largeTurn, ...selected.map(({ id }) => nameOf({ collection: collection.name, id })).sort()];
}

/** Throws unless the caller can make bulk changes in the collection. */
export function requireBulk({ operation: { guard, collection }, request }: BulkWrite): true {
  requireNoPreconditions(request, "cannot be used here: it names one state of one resource");
  if (!guard.can("list")) throw guard.denied("list");
  if (collection.requirePreconditions) throw preconditionRequired();
  return true;
}

/** What the content of a bulk change asks for. Throws the problems of the content, and if the caller cannot do it with any resource. */
export function askedIn(
  service: Data & Callers & Surface,
  operation: Bulk,
  bytes: Buffer,
  most = maxBulk,
): BulkRequest & Pick<BulkContent, "change"> {
  const { settings } = service;
  const { guard, collection, caller } = operation;
  const asked = parseBulk(bytes, { collection, viewOf: viewsOf(service, caller) }, settings.limits, most);
  const action = asked.patch === undefined ? "delete" : "update";
  if (!guard.can(action)) throw guard.denied(action);
  return {
    ...asked,
    change: asked.patch === undefined ? deletion : patchContent(settings, operation, asked.patch),
  };
}

/** Decides about each resource as its own request would. */
async function decideAll(
  write: BulkWrite,
  selected: readonly Stored[],
  { change, patch, patchLength }: BulkContent,
): Promise<Pick<CommitPlan, "changes" | "at">> {
  const { service, operation, request } = write;
  const at = timeOf(service, operation, selected);
  const changes: Change[] = [];
  const pause = createPauses();
  let bytes = 0;
  let length = selected.reduce((sum, { text }) => sum + text.length, 0);
  for (const current of selected) {
    try {
      const [own] = await decideOne(write, current, { change, patch, at });
      if (own !== undefined) changes.push(own);
      const next = own?.next ?? "";
      bytes += Math.max(Buffer.byteLength(current.text), Buffer.byteLength(next));
      length += next.length;
    } catch (error) {
      throw withResource(error, operation, current.id);
    }
    if (bytes > maxBytes) throw tooLarge();
    request.ticket.hold(length);
    await pause(leastBytes + current.text.length + patchLength);
  }
  return { changes, at };
}

/** The change of one resource, or none if it stays the same. Throws what its own request would. */
export async function decideOne(
  { service, operation, request }: BulkWrite,
  current: Stored,
  { change, patch, at }: Pick<BulkContent, "change" | "patch"> & { at: number },
): Promise<readonly Change[]> {
  const { id } = current;
  const own =
    patch === undefined
      ? ({ ...operation, kind: "delete", id } as const)
      : ({ ...operation, kind: "patch", format: patch.format, id } as const);
  const inside: Service = { ...service, now: () => at };
  try {
    const state = await judged(service, operation.guard, current);
    requireRight(own, state);
    return (await decideChange({ service: inside, operation: own, request }, state, change)).changes;
  } catch (error) {
    throw patch?.format === "update" ? insideUpdate(error) : error;
  }
}

/** Adds the path of the refused resource to an error of the store. */
export function explainer(operation: Bulk, changes: readonly Change[]): (error: unknown) => unknown {
  return (error) => {
    const change = error instanceof Problem ? error.change : undefined;
    return change === undefined ? error : withResource(error, operation, changes[change]?.key.id);
  };
}

/** All changes have one time. It is not before the last change of any of the resources, if they show it. */
export function timeOf(service: Clock, { collection }: Bulk, selected: readonly Stored[]): number {
  const now = service.now();
  return collection.timestamps ? selected.reduce((at, { updatedAt }) => Math.max(at, updatedAt), now) : now;
}

/** Selects the resources from the caller's list, or from that of the deleted ones. Throws TOO_MANY_MATCHES and CONTENT_TOO_LARGE. */
export async function select(
  write: BulkWrite,
  { filter, max }: Pick<BulkRequest, "filter" | "max">,
  deleted?: DeletedQuery,
): Promise<readonly Stored[]> {
  const { service, operation, request } = write;
  const { collection, guard, caller } = operation;
  const context = { collection, caller, request, listed: guard.listed };
  const stored = filter && storeFilter(service, caller, filter);
  const all: ListQuery = {
    collection: collection.name,
    limit: max + 1,
    ...(stored && { filter: stored }),
    ...(deleted && { deleted }),
  };
  const query = narrowed(all, guard.listed);
  const selected: Stored[] = [];
  let bytes = 0;
  for (;;) {
    const page = await readPage(service, { ...query, ...rest(operation, selected, max) }, context);
    selected.push(...page.items);
    bytes += sizeOf(page.items);
    request.ticket.endRead(); // others can read while this request waits for its turn to write
    hold(write, ...selected);
    if (selected.length > max) break;
    if (bytes > maxBytes) throw tooLarge();
    if (!page.more) return selected;
  }
  const counted = await readPage(service, { ...query, limit: 1, count: true }, context).catch(
    unlessExpensive,
  );
  const lastId = idJson(collection.idKind, selected[max - 1]?.id ?? "");
  throw tooMany(counted?.total, { max, part: `"id":{"lte":${lastId}}` });
}

/** The part of the list after the resources that are selected already. */
function rest({ collection }: Bulk, selected: readonly Stored[], max: number): Partial<ListQuery> {
  const last = selected.at(-1)?.id;
  if (last === undefined) return {};
  const id = collection.idKind === "integer" ? Number(last) : last;
  return { limit: max + 1 - selected.length, after: [id] };
}

function sizeOf(resources: readonly Stored[]): number {
  return resources.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

/** For `catch` of a list: `undefined` if the list takes too long. */
export function unlessExpensive(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== "QUERY_TOO_EXPENSIVE") throw error;
}

/** The body of the response. */
export function bodyOf(
  { collection: { idKind } }: Bulk,
  matched: number,
  { changes, isDryRun }: Required<Pick<CommitPlan, "changes" | "isDryRun">>,
): string {
  const ids = changes.map(({ key }) => idJson(idKind, key.id));
  return `{"matched":${matched},"changed":${ids.length},"dryRun":${isDryRun},"ids":[${ids.join(",")}]}`;
}

/** A client's error with the resource that it is about. A 5xx is not the fault of a resource. */
export function withResource(error: unknown, { path }: Bulk, id: string | undefined): unknown {
  if (!(error instanceof Problem) || error.status >= 500 || id === undefined) return error;
  const resource = resourcePath(path, id);
  const { code, violations, headers, cause, holder } = error;
  const message = `Nothing changed, because ${resource} was refused: ${error.message}`;
  return new Problem(code, message, { violations, headers, cause, holder, resource });
}

/** `part` is a filter for the first resources that match. */
function tooMany(total: number | undefined, { max, part }: { max: number; part: string }): Problem {
  const matched = total === undefined ? undefined : Math.max(total, max + 1);
  const many = matched === undefined ? `More than ${max}` : `${matched}`;
  const fits = max < maxBulk && (matched === undefined || matched <= maxBulk);
  const advice = fits
    ? `Send "max":${matched ?? maxBulk}, or a filter that matches fewer.`
    : `One request can change at most ${maxBulk}. Send several requests, each with a filter that matches fewer, such as ${part}, or one with the header "Prefer: respond-async", which makes a task of it.`;
  return new Problem(
    "TOO_MANY_MATCHES",
    `${many} resources match, but "max" is ${max}, so nothing changed. ${advice}`,
    { matched },
  );
}

/** The problem of too much text. */
export function tooLarge(): Problem {
  return new Problem(
    "CONTENT_TOO_LARGE",
    `The request would change more than ${maxBytes / 1024 / 1024} MiB of resources, so nothing changed. Send a filter that matches fewer, or the header "Prefer: respond-async", which makes a task of it.`,
  );
}

function preconditionRequired(): Problem {
  const detail =
    "This collection requires a precondition for each change. List the resources, and change them with _batch and If-Match.";
  return new Problem("PRECONDITION_REQUIRED", detail);
}
