/**
 * The validators of lists: entity tags that change when the list can change. They reveal nothing about resources that the
 * caller cannot list.
 */
import { createHash } from "node:crypto";
import type { AllowedResources } from "../../access/rules.ts";
import type { Collection } from "../../collection/collection.ts";
import { type LogPlace, logStart } from "../../store/port/log-place.ts";
import type { Page } from "../../store/port/page.ts";
import type { Guard } from "../caller/permission.ts";
import type { Listing } from "../operations/operation.ts";
import type { Unmodified } from "../operations/result.ts";
import { isUnmodified, passingValidators, type Validators } from "../protocol/conditional.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Callers, Clock, Data, Surface } from "../service.ts";
import { locationOf } from "./links.ts";

/** A list, and the resources that the caller can list. */
export interface ListScope {
  listing: Listing;
  listed: AllowedResources;
  /** Whether the response depends on one collection only. */
  isOfOne: boolean;
  /** Whether the filter or the rule compares with the time of the request. */
  isPassing: boolean;
}

/** The validators of a page. They are weak, because they represent the state of a collection, not the bytes of the page. */
export function listValidators(
  service: Callers & Surface,
  page: Page,
  { listing, listed, isOfOne, isPassing }: ListScope,
): Validators {
  if (isPassing) return passingValidators();
  const isWhole = listed === "everything" && isOfOne && page.hidesExpired !== true;
  const state = isWhole ? page.sequence : stateOf(page);
  return validatorsAt(service, state, listing);
}

/** The validators of a state of a collection, or of the part of it that a caller can see. */
function collectionValidators(service: Surface, state: LogPlace | string, tag = ""): Validators {
  return { etag: `W/"${String(state)}-${service.configurationHash}${tag}"`, lastModifiedMs: undefined };
}

/** The validators of a collection as the target of a create. They reveal nothing to a caller who can list only a part of it. */
export async function targetValidators(
  service: Data & Surface,
  { collection: { name }, guard }: { collection: Collection; guard: Guard },
): Promise<Validators> {
  if (guard.listed !== "everything") return collectionValidators(service, logStart);
  const page = await service.store.list({ collection: name, limit: 1 });
  return collectionValidators(service, page.hidesExpired === true ? stateOf(page) : page.sequence);
}

/** The validators of a list in a state of its collection, or in a state of the part that the caller can see. */
export function validatorsAt(
  service: Callers & Surface,
  state: LogPlace | string,
  listing: Pick<Listing, "type" | "contentHash" | "collection">,
): Validators {
  return collectionValidators(service, state, tagOf(service, listing));
}

/** The result if the client has the current state; `undefined` if it has another one. Throws PRECONDITION_FAILED. */
export function ifUnmodified(
  service: Clock,
  validators: Validators,
  listing: Pick<Listing, "path" | "query">,
  request: HttpRequest,
): Unmodified | undefined {
  if (!isUnmodified(request.headers, validators, service.now())) return undefined;
  return { kind: "unmodified", validators, location: locationOf(listing, request) };
}

/** The end of an entity tag. It differs if the format of the list, its content or the view of the caller differs. */
export function tagOf(
  { tags }: Callers,
  {
    type,
    contentHash,
    collection: { visibility, deletions },
  }: Pick<Listing, "type" | "contentHash" | "collection">,
): string {
  const format = type === "application/json" ? "" : `-${type.split("/")[1]}`;
  const content = contentHash === undefined ? "" : `-${contentHash}`;
  const deletes = deletions?.showsPrincipals === true ? "-by" : "";
  return format + content + deletes + tags.view(visibility);
}

/** The state of a page by its resources. The state of the collection would reveal changes to resources that the caller cannot see. */
function stateOf({ items, more, total, positions = [] }: Page): string {
  const versions = items.map(({ id, version }) => [id, version]);
  return hashOf([versions, more, total, ...positions]).slice(0, 16); // the link to the next page has a position
}

/** A hash of a JSON value. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}
