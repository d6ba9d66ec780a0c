/** Reads the resources that a response embeds, with one query for each relation and level. */
import type { AllowedResources } from "../../access/rules.ts";
import { fitId } from "../../collection/ids.ts";
import { referencedIds } from "../../collection/references.ts";
import { pickMembers, textWithId, withoutId } from "../../collection/resource.ts";
import { partOf } from "../../collection/visibility.ts";
import { type Embed, embedLimits, hiddenMember, nextMember } from "../../query/embed-request.ts";
import { allOf, type Filter } from "../../query/filter.ts";
import { typeOfReference } from "../../query/related-resources.ts";
import { compareSortValues } from "../../query/sort.ts";
import { lengthOf, maxPageBytes, type ReadClient } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { createPauses } from "../admission/turns.ts";
import type { Caller } from "../caller/admit.ts";
import { guardOf } from "../caller/permission.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Callers, Data } from "../service.ts";

/** The related resources of one resource, as far as the caller can list them. */
export interface RelatedGroup {
  items: readonly Stored[];
  /** Whether the limit of the relation has left out others. */
  more: boolean;
  /** Of a reference: all ids, in their order. */
  ids?: readonly string[];
}

/** One relation of all resources of one level. */
export interface RelatedLevel {
  embed: Embed;
  /** The texts of the related resources by their ids, as the caller sees them. */
  texts: ReadonlyMap<string, string>;
  /** The related resources by the id of the resource. If an id is missing, its related resources were not read, because there are too many. */
  groups: ReadonlyMap<string, RelatedGroup>;
  inner: readonly RelatedLevel[];
}

/** A request, and the bytes that it holds. */
export interface RelatedRequest {
  service: Data & Callers;
  caller: Caller;
  request: HttpRequest;
  client: () => ReadClient;
  /** The bytes of all texts that were read for the response. */
  bytes: number;
}

/** Reads the relations of some resources. Throws what the store throws, and UNAVAILABLE if other requests hold too much memory. */
export async function readLevels(
  context: RelatedRequest,
  embeds: readonly Embed[],
  parents: readonly Stored[],
): Promise<RelatedLevel[]> {
  if (embeds.length === 0) return [];
  const distinct = distinctOf(parents);
  const ids = await referencesIn(distinct, embeds);
  const read = await Promise.all(
    embeds.map((embed) => readLevel(context, { embed, parents: distinct, ids: ids.get(embed) })),
  );
  // One after the other, because work on several levels in one turn of the event loop would block it.
  const levels: RelatedLevel[] = [];
  for (const level of read) levels.push(await completeLevel(context, level));
  return levels;
}

function distinctOf(resources: readonly Stored[]): Stored[] {
  return [...new Map(resources.map((each) => [each.id, each])).values()];
}

/** The ids in the references of resources, as ids of the related collections. */
type ReferencedIds = ReadonlyMap<string, readonly string[]>;

/** Reads all references from each text at once. */
async function referencesIn(
  resources: readonly Stored[],
  embeds: readonly Embed[],
): Promise<ReadonlyMap<Embed, ReferencedIds>> {
  const references = embeds.filter(({ relation }) => relation.kind === "reference");
  const found = new Map(references.map((embed) => [embed, new Map<string, string[]>()]));
  if (references.length === 0) return found;
  const pause = createPauses();
  for (const { id, text } of resources) {
    const resource = JSON.parse(text) as Record<string, unknown>;
    for (const [embed, ids] of found) ids.set(id, idsIn(resource, embed));
    const paused = pause(text.length);
    if (paused !== undefined) await paused;
  }
  return found;
}

function idsIn(resource: Record<string, unknown>, { relation, target }: Embed): string[] {
  const reference = { path: relation.path, collection: relation.collection, onDelete: "restrict" } as const;
  const ids = referencedIds(resource, [reference]).map(({ id }) => fitId(target.idKind, id));
  return [...new Set(ids.filter((id) => id !== undefined))];
}

interface ReadLevel {
  embed: Embed;
  groups: Map<string, RelatedGroup>;
}

async function readLevel(
  context: RelatedRequest,
  { embed, parents, ids }: Pick<LevelQuery, "embed" | "parents"> & { ids: ReferencedIds | undefined },
): Promise<ReadLevel> {
  const { listed } = guardOf(context.service, embed.target, context.caller);
  if (listed === "nothing" || parents.length === 0)
    return { embed, groups: new Map(parents.map(({ id }) => [id, emptyGroup(ids?.get(id))])) };
  const query = { embed, parents, listed };
  const groups = ids === undefined ? readInverse(context, query) : readReferenced(context, query, ids);
  return { embed, groups: await groups };
}

function emptyGroup(ids: readonly string[] | undefined): RelatedGroup {
  return { items: [], more: false, ...(ids !== undefined && { ids }) };
}

/** Adds the texts that the caller sees, and the relations of the related resources. */
async function completeLevel(context: RelatedRequest, { embed, groups }: ReadLevel): Promise<RelatedLevel> {
  const items = distinctOf([...groups.values()].flatMap((group) => group.items));
  context.bytes += lengthOf({ items });
  context.request.ticket.hold(context.bytes);
  const texts = new Map<string, string>();
  const pause = createPauses();
  for (const item of items) {
    texts.set(item.id, withoutEmbeds(partOf(item.text, embed.fields, embed.target.visibility), embed.embeds));
    const paused = pause(item.text.length);
    if (paused !== undefined) await paused;
  }
  return { embed, texts, groups, inner: await readLevels(context, embed.embeds, items) };
}

/**
 * The text of a resource without the attributes that related resources replace. A resource of an open schema can have attributes with
 * the names of its relations.
 */
export function withoutEmbeds(text: string, embeds: readonly Embed[]): string {
  const names =
    embeds.length === 0 ? [] : [...embeds.map(({ relation }) => relation.name), hiddenMember, nextMember];
  if (!names.some((name) => text.includes(`${JSON.stringify(name)}:`))) return text;
  const resource = JSON.parse(text) as Record<string, unknown>;
  return textWithId(
    JSON.stringify(resource.id),
    withoutId(pickMembers(resource, (name) => !names.includes(name))),
  );
}

interface LevelQuery {
  embed: Embed;
  parents: readonly Stored[];
  listed: Exclude<AllowedResources, "nothing">;
}

/**
 * Reads groups until they have enough resources. How many resources refer to others is known only afterwards, so each query is
 * for no more resources than could be too many.
 */
async function readInverse(
  { service, client }: RelatedRequest,
  { embed, parents, listed }: LevelQuery,
): Promise<Map<string, RelatedGroup>> {
  const { relation, target, limit, sort } = embed;
  const filters = listed === "everything" ? embed.filters : [listed, ...embed.filters];
  const query = {
    collection: target.name,
    reference: { path: relation.path, type: typeOfReference(target, relation.path) },
    limit,
    sort,
    ...(filters.length > 0 && { filter: allOf(filters) }),
    client,
  };
  const perRound = Math.floor(embedLimits.resources / limit);
  const read = new Map<string, RelatedGroup>();
  let count = 0;
  let bytes = 0;
  for (let round = 0; round < embedLimits.rounds; round++) {
    const ids = parents.slice(round * perRound, (round + 1) * perRound).map(({ id }) => id);
    if (ids.length === 0 || count >= embedLimits.resources || bytes >= maxPageBytes) break;
    const groups = await service.store.referring({ ...query, ids });
    for (const [n, id] of ids.entries()) {
      const group = groups[n];
      if (group === undefined) return read;
      read.set(id, group);
      count += group.items.length;
      bytes += lengthOf(group);
    }
  }
  return read;
}

/** Reads the first resources in the order of ids. If their texts are too long, those with the last ids are missing. */
async function readReferenced(
  context: RelatedRequest,
  { embed, listed }: LevelQuery,
  idsOf: ReferencedIds,
): Promise<Map<string, RelatedGroup>> {
  const { limit } = embed;
  const all = new Set([...idsOf.values()].flatMap((ids) => ids.slice(0, limit)));
  const wanted = new Set([...all].slice(0, embedLimits.resources));
  const { found, isRead } = await readByIds(context, { embed, listed, ids: [...wanted] });
  const groups = new Map<string, RelatedGroup>();
  for (const [id, ids] of idsOf) {
    const shown = ids.slice(0, limit);
    const unread = shown.findIndex((each) => !wanted.has(each) || !isRead(each));
    // An array ends before a resource that was not read. Without any resource, the group was not read.
    if (unread === 0) continue;
    const complete = unread === -1 ? shown : shown.slice(0, unread);
    const items = complete.flatMap((each) => found.get(each) ?? []);
    groups.set(id, { items, more: complete.length < ids.length, ids });
  }
  return groups;
}

interface Found {
  found: Map<string, Stored>;
  isRead: (id: string) => boolean;
}

async function readByIds(
  { service, client }: RelatedRequest,
  {
    embed: { target },
    listed,
    ids,
  }: { embed: Embed; listed: Exclude<AllowedResources, "nothing">; ids: readonly string[] },
): Promise<Found> {
  const valueFor = (id: string) => (target.idKind === "integer" ? Number(id) : id);
  const list = (some: readonly string[]) => {
    const isOne: Filter = { kind: "in", path: ["id"], values: some.map(valueFor) };
    const filter = listed === "everything" ? isOne : allOf([isOne, listed]);
    return service.store.list({ collection: target.name, filter, limit: some.length, client });
  };
  const [first] = ids;
  if (first === undefined) return { found: new Map(), isRead: () => true };
  const page = await list(ids);
  const found = new Map(page.items.map((each) => [each.id, each]));
  const last = page.items.at(-1);
  if (!page.more || last === undefined) return { found, isRead: () => true };
  const isBefore = (id: string) => compareSortValues(valueFor(id), valueFor(last.id)) <= 0;
  if (isBefore(first)) return { found, isRead: isBefore };
  // The first resource of a response is always complete.
  for (const each of (await list([first])).items) found.set(each.id, each);
  return { found, isRead: (id) => id === first || isBefore(id) };
}
