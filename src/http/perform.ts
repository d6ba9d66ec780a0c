/** Carries an operation out; writes are in `write.ts`, lists in `lists.ts`. */
import { Problem } from "../errors.ts";
import { pickFields } from "../query/fields.ts";
import type { Stored } from "../store/stored.ts";
import { performBatch } from "./batch/batch.ts";
import { guardOf } from "./caller/permission.ts";
import { isUnmodified } from "./conditional.ts";
import { readChanges, readPast } from "./history/history.ts";
import { restore } from "./history/restore.ts";
import { readListing } from "./lists/by-content.ts";
import { performList } from "./lists/lists.ts";
import type { HttpRequest } from "./message.ts";
import type { Operation, OperationOf } from "./operation.ts";
import type { Result } from "./result.ts";
import { collectionsDocument } from "./routes/collections.ts";
import { documentOf } from "./routes/documents.ts";
import { mayHavePage } from "./routes/pages.ts";
import type { Service } from "./service.ts";
import { create, write } from "./write.ts";

const absent: Result = { kind: "absent" };

function notBegun(): Problem {
  return new Problem("UNAVAILABLE", "The store is not reachable yet. Try again.");
}

/** Performs the operation. Throws the problems of its content and preconditions, and the store's. */
export function perform(
  service: Service,
  operation: Operation,
  request: HttpRequest,
): Result | Promise<Result> {
  if (!service.hasBegun() && operation.kind !== "document") throw notBegun();
  switch (operation.kind) {
    case "nothing":
      return absence(service, operation.path, request);
    case "front page":
      return frontPage(service, request);
    case "collections":
      return listCollections(service, request);
    case "options":
      return { kind: "options", operation };
    case "document":
      return readDocument(service, operation.name, request);
    case "list":
      return performList(service, operation, request);
    case "query":
      return performQuery(service, operation, request);
    case "read":
      return read(service, operation, request);
    case "past":
      return readPast(service, operation, request);
    case "changes":
      return readChanges(service, operation, request);
    case "restore":
      return restore(service, operation, request);
    case "batch":
      return performBatch(service, request);
    case "create":
      return create(service, operation, request);
    default:
      return write(service, operation, request);
  }
}

async function readDocument(service: Service, name: string, request: HttpRequest): Promise<Result> {
  const document = await documentOf(service, name);
  return document === undefined ? absence(service, `/${name}`, request) : { kind: "document", document };
}

/** The answer for an unknown path: a page for a browser outside the prefix, otherwise no content. */
function absence(service: Service, path: string | undefined, request: HttpRequest): Result | Promise<Result> {
  const isOutside = path !== undefined && service.settings.prefix !== "";
  return isOutside && mayHavePage(service, request) ? absentPage(service, path) : absent;
}

// The pages, like the descriptions, are loaded on first use.

async function frontPage(service: Service, request: HttpRequest): Promise<Result> {
  const { frontPageOf } = await import("./routes/front-page.ts");
  return { kind: "document", document: await frontPageOf(service, request) };
}

async function absentPage(service: Service, path: string): Promise<Result> {
  const { absentPageOf } = await import("./routes/front-page.ts");
  return { kind: "document", document: absentPageOf(service, path) };
}

async function listCollections(service: Service, request: HttpRequest): Promise<Result> {
  return { kind: "document", document: await collectionsDocument(service, request) };
}

/** On the path of most requests, so without a turn where the resource is at hand. */
function read(
  service: Service,
  operation: OperationOf<"read">,
  request: HttpRequest,
): Result | Promise<Result> {
  const { collection, id } = operation;
  const stored = service.store.read({ collection: collection.name, id });
  if (!(stored instanceof Promise)) return resultOf(service, operation, { request, stored });
  return stored.then((found) => resultOf(service, operation, { request, stored: found }));
}

function resultOf(
  service: Service,
  operation: OperationOf<"read">,
  { request, stored }: { request: HttpRequest; stored: Stored | undefined },
): Result {
  const guard = guardOf(service, operation.collection, request);
  if (stored === undefined || !guard.sees(stored.text)) return absent;
  const validators = guard.validators(stored);
  if (isUnmodified(request.headers, validators, service.now())) {
    return { kind: "unmodified", validators, location: undefined };
  }
  const told = operation.fields === undefined ? guard.told(stored) : cut(stored, operation.fields);
  return { kind: "found", stored: told, path: operation.path, validators };
}

function cut(stored: Stored, fields: readonly string[]): Stored {
  return { ...stored, text: pickFields(stored.text, new Set(fields)) };
}

async function performQuery(
  service: Service,
  operation: OperationOf<"query">,
  request: HttpRequest,
): Promise<Result> {
  return performList(service, await readListing(service, operation, request), request);
}
