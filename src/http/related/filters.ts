/** Restricts conditions about related resources to resources that the caller can list. */
import { allOf, mapLeaves, matchNone, type RequestedFilter, type StoreFilter } from "../../query/filter.ts";
import type { Caller } from "../caller/admit.ts";
import { guardOf, viewsOf } from "../caller/permission.ts";
import type { Callers, Data } from "../service.ts";

/** The filter for the store. It treats a related resource that the caller cannot list as one that does not exist. */
export function storeFilter(service: Data & Callers, caller: Caller, filter: RequestedFilter): StoreFilter {
  const viewOf = viewsOf(service, caller);
  return mapLeaves(filter, (leaf): StoreFilter => {
    if (leaf.kind !== "requestedRelated") return leaf;
    const { relation, filter: inner } = leaf;
    const target = viewOf(relation.collection);
    const listed = target === undefined ? "nothing" : guardOf(service, target, caller).listed;
    if (listed === "nothing") return matchNone;
    return { kind: "related", relation, filter: listed === "everything" ? inner : allOf([inner, listed]) };
  });
}
