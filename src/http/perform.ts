/** Carries out an operation. The steps of all writes are in `write.ts`. */
import { Problem } from "../errors.ts";
import { createFirstKey } from "./administration/first-key.ts";
import { performBatch } from "./batch/batch.ts";
import { performBulk } from "./batch/bulk.ts";
import type { Caller } from "./caller/admit.ts";
import { documentOf } from "./describe/documents.ts";
import { collectionsDocument } from "./documents/collections.ts";
import type { Endpoint } from "./endpoint/endpoint.ts";
import { readEvents } from "./events/events.ts";
import { performFigures } from "./lists/figures.ts";
import { performList } from "./lists/lists.ts";
import { readListing } from "./lists/query.ts";
import { belowParent } from "./operations/nested.ts";
import type { Operation } from "./operations/operation.ts";
import { canHavePage } from "./operations/parse.ts";
import { type Document, notFound, type Result } from "./operations/result.ts";
import type { HttpRequest } from "./protocol/message.ts";
import { readChanges, readEarlierState } from "./reads/history.ts";
import { read } from "./reads/read.ts";
import type { Service } from "./service.ts";
import { change } from "./writes/change.ts";
import { create } from "./writes/create.ts";
import { isKeyed, performOnce } from "./writes/idempotency.ts";
import { restore } from "./writes/restore.ts";
import { performRewind } from "./writes/rewind.ts";

/** Performs the operation. Throws the problems of its content and preconditions, and the store's. */
export function perform(
  service: Service,
  operation: Operation,
  request: HttpRequest,
): Result | Promise<Result> {
  if (!service.hasStarted() && operation.kind !== "document" && operation.kind !== "metrics")
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
    case "front page":
      return documentResult(rootPage(service, operation.caller, request));
    case "collections":
      return documentResult(collectionsDocument(service, operation.caller));
    case "endpoint": {
      const { endpoint, ...asked } = operation;
      return (endpoint as Endpoint).handle(service, { ...asked, request }); // the table has endpoints only
    }
    case "firstKey":
      return createFirstKey(service, request);
    case "options":
      return { kind: "options", operation };
    case "document":
      return readDocument(service, operation.name, request);
    case "metrics":
      return readMetrics(service);
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
    case "batch":
      return performBatch({ service, operation, request });
    case "bulk":
      return performBulk({ service, operation, request });
    case "rewind":
      return performRewind({ service, operation, request });
  }
}

async function readDocument(service: Service, name: string, request: HttpRequest): Promise<Result> {
  const document = await documentOf(service, name, request);
  return document === undefined ? absence(service, `/${name}`, request) : { kind: "document", document };
}

async function readMetrics({ metrics }: Service): Promise<Result> {
  if (metrics === undefined) return notFound;
  const { type, text } = await metrics.exposition();
  return { kind: "document", document: { status: 200, type, body: text } };
}

/** The result for an unknown path: a page for a browser outside the prefix, otherwise no content. */
function absence(service: Service, path: string | undefined, request: HttpRequest): Result | Promise<Result> {
  const isOutside = path !== undefined && service.settings.prefix !== "";
  if (!isOutside || !canHavePage(service, request)) return notFound;
  return documentResult(pages().then(({ absentPageOf }) => absentPageOf(service, path)));
}

/** The console; without it, a page that names the collections. */
async function rootPage(service: Service, caller: Caller, request: HttpRequest): Promise<Document> {
  const page = service.settings.console
    ? await (await import("./documents/console.ts")).consolePage(service)
    : undefined;
  return page ?? (await pages()).frontPageOf(service, caller, request);
}

/** The pages, like the descriptions, are loaded on first use. */
const pages = () => import("./documents/front-page.ts");

/** Few services import while they run. */
const imports = () => import("./imports/imports.ts");

async function documentResult(document: Promise<Document>): Promise<Result> {
  return { kind: "document", document: await document };
}
