/** Carries out an operation. The steps of all writes are in `write.ts`. */
import { Problem } from "../errors.ts";
import { performBatch } from "./batch/batch.ts";
import { collectionsDocument } from "./documents/collections.ts";
import { documentOf } from "./documents/documents.ts";
import { readEvents } from "./events/events.ts";
import { performList } from "./lists/lists.ts";
import { readListing } from "./lists/query.ts";
import type { Operation } from "./operations/operation.ts";
import { canHavePage } from "./operations/parse.ts";
import { type Document, notFound, type Result } from "./operations/result.ts";
import type { HttpRequest } from "./protocol/message.ts";
import { readChanges, readPast } from "./reads/history.ts";
import { read } from "./reads/read.ts";
import type { Service } from "./service.ts";
import { performOnWebhook } from "./webhooks/webhooks.ts";
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
  if (!service.hasStarted() && operation.kind !== "document")
    throw new Problem("UNAVAILABLE", "The store is not reachable yet. Try again.");
  if (isKeyed(operation, request))
    return performOnce(service, operation, request, (once) => carryOut(service, once, request));
  return carryOut(service, operation, request);
}

function carryOut(service: Service, operation: Operation, request: HttpRequest): Result | Promise<Result> {
  switch (operation.kind) {
    case "nothing":
      return absence(service, operation.path, request);
    case "front page":
      return documentResult(
        pages().then(({ frontPageOf }) => frontPageOf(service, operation.caller, request)),
      );
    case "collections":
      return documentResult(collectionsDocument(service, operation.caller));
    case "options":
      return { kind: "options", operation };
    case "document":
      return readDocument(service, operation.name, request);
    case "list":
      return performList(service, operation, request);
    case "query":
      return readListing(service, operation, request).then((listing) =>
        performList(service, listing, request),
      );
    case "read":
      return read(service, operation, request);
    case "past":
      return readPast(service, operation, request);
    case "changes":
      return readChanges(service, operation);
    case "events":
      return readEvents(service, operation, request);
    case "webhookStatus":
    case "webhookDeliveries":
    case "webhookAction":
      return performOnWebhook(service, operation, request);
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
  }
}

async function readDocument(service: Service, name: string, request: HttpRequest): Promise<Result> {
  const document = await documentOf(service, name);
  return document === undefined ? absence(service, `/${name}`, request) : { kind: "document", document };
}

/** The result for an unknown path: a page for a browser outside the prefix, otherwise no content. */
function absence(service: Service, path: string | undefined, request: HttpRequest): Result | Promise<Result> {
  const isOutside = path !== undefined && service.settings.prefix !== "";
  if (!isOutside || !canHavePage(service, request)) return notFound;
  return documentResult(pages().then(({ absentPageOf }) => absentPageOf(service, path)));
}

/** The pages, like the descriptions, are loaded on first use. */
const pages = () => import("./documents/front-page.ts");

async function documentResult(document: Promise<Document>): Promise<Result> {
  return { kind: "document", document: await document };
}
