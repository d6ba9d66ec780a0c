/** Reads requests for the deleted resources of a collection: lists whose resources have the member `_deleted`. */

import type { Collection } from "../../collection/collection.ts";
import { type Deletions, deletedMember, deletedOf } from "../../collection/deletions.ts";
import { isObject } from "../../json/values.ts";
import { asksForFigures, bodyAsksForFigures } from "../../query/figures-request.ts";
import { embedParameters, readParameters } from "../../query/list-parameters.ts";
import type { ListRequest } from "../../query/list-request.ts";
import { parseListBody } from "../../query/query-body.ts";
import { parseList } from "../../query/query-string.ts";
import { inBody, inQuery, Violations } from "../../query/violations.ts";
import { inPast } from "../caller/permission.ts";
import type { InCollection, ListRead, Query } from "../operations/operation.ts";
import { listTypeFor } from "../protocol/accept.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Callers, Data, Surface } from "../service.ts";
import { equivalentQuery, readQuery } from "./query.ts";

/** What the caller sees of deletes: who made them, if the caller could see that in the history of each resource. */
export function deletionsFor({ settings }: Surface, { guard }: Pick<InCollection, "guard">): Deletions {
  return { showsPrincipals: settings.showPrincipal || guard.canWithAll("update") };
}

const refused = ["q", "at", ...embedParameters, "aggregate"] as const;

/** The latest deletes come first. */
const usualSort = `-${deletedMember}.at`;

/** The list that a query string asks for. Throws as `parseList` does. */
export function parseDeleted(
  service: Data & Callers & Surface,
  place: Query,
  { query, request }: { query: string; request: HttpRequest },
): ListRead {
  const list = listIn(service, place);
  const asked = parseQuery(query, list.collection, service.settings.limits.page);
  return { ...list, query, contentHash: undefined, asked, type: listTypeFor(request, asked) };
}

/** The list that the body of a QUERY asks for. Throws as `readListing` does. */
export async function readDeleted(
  service: Data & Callers & Surface,
  place: Query,
  request: HttpRequest,
): Promise<ListRead> {
  const { content, contentHash } = await readQuery(service, request);
  const given = isObject(content) ? content : {};
  requirePossible((name) => Object.hasOwn(given, name), bodyAsksForFigures(given), inBody);
  const list = listIn(service, place);
  const isSorted = !isObject(content) || Object.hasOwn(content, "sort");
  const sorted = isSorted ? content : { ...content, sort: [usualSort] };
  const asked = parseListBody(sorted, list.collection, service.settings.limits.page);
  const query = equivalentQuery(service, list, { content, asked, scope: {}, parse: parseQuery });
  return { ...list, query, contentHash, asked, type: listTypeFor(request, asked) };
}

function listIn(service: Data & Callers & Surface, asked: Query) {
  const place = inPast(service, asked);
  const deletions = deletionsFor(service, place);
  const collection = deletedOf(place.collection, deletions);
  return { kind: "list", ...place, collection, path: `${place.path}/${deletedMember}`, deletions } as const;
}

function parseQuery(query: string, collection: Collection, maxPageSize: number): ListRequest {
  const { known } = readParameters(query, new Violations());
  requirePossible((name) => known.has(name), asksForFigures(query), inQuery);
  const isSorted = known.has("sort") || known.has("_sort");
  const sorted = isSorted ? query : [query, `sort=${usualSort}`].filter(Boolean).join("&");
  return parseList(sorted, collection, maxPageSize);
}

/** Throws INVALID_PARAMETER for what a list of deleted resources does not have. */
function requirePossible(
  has: (name: (typeof refused)[number]) => boolean,
  areFigures: boolean,
  at: typeof inBody | typeof inQuery,
): void {
  const violations = new Violations();
  for (const name of refused)
    if (name === "aggregate" ? areFigures : has(name))
      violations.add(at(name), "deleted", "is not possible in a list of deleted resources");
  violations.throwIfAny();
}
