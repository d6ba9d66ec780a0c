/** Carries out an operation. The steps of all writes are in `write.ts`. */
import { Problem } from "../errors.ts";
import { performBulk } from "./batch/bulk.ts";
import { absence } from "./documents/root-page.ts";
import { readEvents } from "./events/events.ts";
import { performFigures } from "./lists/figures.ts";
import { performList } from "./lists/lists.ts";
import { readListing } from "./lists/query.ts";
import { belowParent } from "./operations/nested.ts";
import type { Operation } from "./operations/operation.ts";
import type { EndpointRow, Result } from "./operations/result.ts";
import type { HttpRequest } from "./protocol/message.ts";
import { readChanges, readEarlierState } from "./reads/history.ts";
import { read } from "./reads/read.ts";
import type { Service } from "./service.ts";
import { change } from "./writes/change.ts";
import { create } from "./writes/create.ts";
import { isKeyed, performOnce } from "./writes/idempotency.ts";
import { restore } from "./writes/restore.ts";

/** Performs the operation. Throws the problems of its content and preconditions, and the store's. */
export function perform(
  service: Service,
  operation: Operation,
  request: HttpRequest,
): Result | Promise<Result> {
  if (!service.hasStarted() && !(operation.kind === "endpoint" && operation.endpoint.isAlwaysReady))
    throw new Problem("UNAVAILABLE", "The store is not reachable yet. Try again.");
  if (isKeyed(operation, request))
    return performOnce(service, operation, request, (once) => carryOut(service, once, request));
  return carryOut(service, operation, request);
}

function carryOut(service: Service, operation: Operation, request: HttpRequest): Result | Promise<Result> {
  const parent = "parent" in operation ? operation.parent : undefined;
  if (parent === undefined) return carryOutHere(service, operation, request);
  return belowParent(service, parent, () => carryOutHere(service, operation, request));
}

function carryOutHere(
  service: Service,
  operation: Operation,
  request: HttpRequest,
): Result | Promise<Result> {
  switch (operation.kind) {
    case "nothing":
      return absence(service, operation.path, request);
    case "endpoint":
      return (operation.endpoint as EndpointRow).handle(service, { ...operation, request }); // the table has rows only
    case "options":
      return { kind: "options", operation };
    case "list":
      return performList(service, operation, request);
    case "query":
      return readListing(service, operation, request).then(
        (listing): Promise<Result> =>
          listing.kind === "figures"
            ? performFigures(service, listing, request)
            : performList(service, listing, request),
      );
    case "figures":
      return performFigures(service, operation, request);
    case "read":
      return read(service, operation, request);
    case "earlierState":
      return readEarlierState(service, operation, request);
    case "changes":
      return readChanges(service, operation);
    case "events":
      return readEvents(service, operation, request);
    case "import":
      return imports().then(({ performImport }) => performImport(service, operation, request));
    case "create":
      return create({ service, operation, request });
    case "replace":
    case "patch":
    case "delete":
      return change({ service, operation, request });
    case "restore":
      return restore({ service, operation, request });
    case "bulk":
      return performBulk({ service, operation, request });
  }
}

/** Few services import while they run. */
const imports = () => import("./imports/imports.ts");
