/** Reads one resource. */
import type { Judged } from "../../access/access.ts";
import { partOf } from "../../collection/visibility.ts";
import type { Stored } from "../../store/port/stored.ts";
import { currentOf } from "../caller/judged.ts";
import { type EarlierRead, keyOf, type Read } from "../operations/operation.ts";
import { notFound, type Result } from "../operations/result.ts";
import { isUnmodified } from "../protocol/conditional.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { contentValidators, embedInto } from "../related/embed.ts";
import type { Callers, Clock, Data, Surface } from "../service.ts";

/** Reads the current state. Most requests come here, so it waits only if the resource is large or not in memory. */
export function read(
  service: Data & Callers & Surface & Clock,
  operation: Read,
  request: HttpRequest,
): Result | Promise<Result> {
  const { ticket } = request;
  const turn = ticket.read(() => ticket.sizes.ofOne(operation.collection.name));
  return turn === undefined
    ? readNow(service, operation, request)
    : turn.then(() => readNow(service, operation, request));
}

function readNow(
  service: Data & Callers & Surface & Clock,
  operation: Read,
  request: HttpRequest,
): Result | Promise<Result> {
  if (operation.embeds.length > 0) return readEmbedded(service, operation, request);
  const stored = currentOf(service, operation.guard, keyOf(operation));
  if (!(stored instanceof Promise)) return foundResult(service, operation, request, stored);
  return stored.then((found) => {
    if (found !== undefined) request.ticket.sizes.noteOne(operation.collection.name, found.text.length);
    return foundResult(service, operation, request, found);
  });
}

/** What the caller gets of a state of the resource. Throws PRECONDITION_FAILED. */
export function foundResult(
  service: Clock,
  operation: Read | EarlierRead,
  request: HttpRequest,
  stored: (Stored & Judged) | undefined,
): Result {
  const { guard, path } = operation;
  if (stored === undefined || !guard.sees(stored)) return notFound;
  const validators = guard.validators(stored);
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  return { kind: "found", stored: visiblePart(operation, stored), path, validators };
}

/** Reads the resource with related resources. Its entity tag is a hash of all of them. */
async function readEmbedded(
  service: Data & Callers & Surface & Clock,
  operation: Read,
  request: HttpRequest,
): Promise<Result> {
  const { caller, collection, embeds, guard, path } = operation;
  const stored = await currentOf(service, guard, keyOf(operation));
  if (stored === undefined || !guard.sees(stored)) return notFound;
  const { text } = visiblePart(operation, stored);
  const embedding = { collection: collection.name, resources: [stored], shown: [text], embeds };
  const [content = text] = await embedInto(service, { caller, request }, embedding);
  const validators = contentValidators([content], []);
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  return { kind: "found", stored: { ...stored, text: content }, path, validators };
}

function visiblePart({ guard, collection, fields }: Read | EarlierRead, stored: Stored): Stored {
  return fields === undefined
    ? guard.visiblePart(stored)
    : { ...stored, text: partOf(stored.text, fields, collection.visibility) };
}
