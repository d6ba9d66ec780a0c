/** What the endpoints in collections share: the caller's view of the collection, and the write of a request. */
import { guardOf, viewFor } from "../caller/permission.ts";
import type { InCollection, Writes } from "../operations/operation.ts";
import type { Asked, Routed } from "../operations/result.ts";
import type { CollectionRoute } from "../route.ts";
import type { Callers, Service } from "../service.ts";
import type { Write } from "../writes/commit.ts";

/** The collection of a request as its caller sees it, with what the caller can do there. */
export function collectionOf(
  service: Callers,
  { route, caller }: Routed<CollectionRoute>,
): InCollection & Writes {
  const collection = viewFor(service, route.collection, caller);
  return { collection, path: route.path, guard: guardOf(service, collection, caller), caller };
}

/** The write that a request asks for. */
export function writeOf<Op extends InCollection & Writes>(
  service: Service,
  { parsed, idempotency, request }: Asked<Op>,
): Write<Op> {
  const operation = idempotency === undefined ? parsed : { ...parsed, idempotency };
  return { service, operation, request };
}
