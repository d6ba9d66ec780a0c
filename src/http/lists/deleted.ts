/** Reads requests for the deleted resources of a collection: lists whose resources have the member `_deleted`. */
import { type Deletions, deletedMember, deletedOf } from "../../collection/deletions.ts";
import { asksForFigures } from "../../query/figures-request.ts";
import { readParameters } from "../../query/list-parameters.ts";
import { parseList } from "../../query/query-string.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import type { InCollection, ListRead, Writes } from "../operations/operation.ts";
import { listTypeFor } from "../protocol/accept.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Surface } from "../service.ts";

/** What the caller sees of deletes: who made them, if the caller could see that in the history of each resource. */
export function deletionsFor({ settings }: Surface, { guard }: Pick<InCollection, "guard">): Deletions {
  return { showsPrincipals: settings.showPrincipal || guard.canWithAll("update") };
}

const refused = ["q", "at", "embed"] as const;

/** The list that a query string asks for. Without a sort, the latest deletes come first. Throws as `parseList` does. */
export function parseDeleted(
  service: Surface,
  place: InCollection & Writes,
  { query, request }: { query: string; request: HttpRequest },
): ListRead {
  const violations = new Violations();
  const { known } = readParameters(query, violations);
  const advice = `is not possible in a list of deleted resources`;
  for (const name of refused) if (known.has(name)) violations.add(inQuery(name), "deleted", advice);
  if (asksForFigures(query)) violations.add(inQuery("aggregate"), "deleted", advice);
  violations.throwIfAny();
  const deletions = deletionsFor(service, place);
  const isSorted = known.has("sort") || known.has("_sort");
  const sorted = isSorted ? query : [query, `sort=-${deletedMember}.at`].filter(Boolean).join("&");
  const collection = deletedOf(place.collection, deletions);
  const asked = parseList(sorted, collection, service.settings.limits.page);
  return {
    kind: "list",
    ...place,
    collection,
    path: `${place.path}/${deletedMember}`,
    query,
    contentHash: undefined,
    asked,
    type: listTypeFor(request, asked),
    deletions,
  };
}
