/** Reads one resource. */
import { pickFields } from "../../collection/resource.ts";
import type { Stored } from "../../store/stored.ts";
import { keyOf, type OperationOf } from "../operations/operation.ts";
import { notFound, type Result } from "../operations/result.ts";
import { isUnmodified } from "../protocol/conditional.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Service } from "../service.ts";

/** Reads the current state. Most requests come here, so it waits only if the resource is large or not in memory. */
export function read(
  service: Service,
  operation: OperationOf<"read">,
  request: HttpRequest,
): Result | Promise<Result> {
  const { largeReads } = request;
  const turn = largeReads.waitForTurn(request, () => largeReads.sizes.ofOne(operation.collection.name));
  return turn === undefined
    ? readNow(service, operation, request)
    : turn.then(() => readNow(service, operation, request));
}

function readNow(
  service: Service,
  operation: OperationOf<"read">,
  request: HttpRequest,
): Result | Promise<Result> {
  const stored = service.store.read(keyOf(operation));
  if (!(stored instanceof Promise)) return foundResult(service, operation, request, stored);
  return stored.then((found) => {
    if (found !== undefined) request.largeReads.sizes.noteOne(operation.collection.name, found.text.length);
    return foundResult(service, operation, request, found);
  });
}

/** What the caller gets of a state of the resource. Throws PRECONDITION_FAILED. */
export function foundResult(
  service: Service,
  { guard, fields, path }: OperationOf<"read" | "past">,
  request: HttpRequest,
  stored: Stored | undefined,
): Result {
  if (stored === undefined || !guard.sees(stored.text)) return notFound;
  const validators = guard.validators(stored);
  if (isUnmodified(request.headers, validators, service.now()))
    return { kind: "unmodified", validators, location: undefined };
  // `fields` never names a hidden attribute: parsing has refused that.
  const shown =
    fields === undefined
      ? guard.visiblePart(stored)
      : { ...stored, text: pickFields(stored.text, new Set(fields)) };
  return { kind: "found", stored: shown, path, validators };
}
