/** Asks the store to write, and waits for no longer than a client should. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import type { Change, Commit, Committed } from "../store/commit.ts";
import type { Stored } from "../store/stored.ts";
import { receiptFor } from "./idempotency.ts";
import type { HttpRequest } from "./message.ts";
import type { Result } from "./result.ts";
import type { Service } from "./service.ts";

/**
 * When a change of a resource happens. Where it shows in the resource, not before its last one: a clock may have been set
 * back meanwhile.
 */
export function timeOfChange(
  service: Service,
  { timestamps }: Collection,
  { updatedAt }: Pick<Stored, "updatedAt">,
): number {
  const now = service.now();
  return timestamps ? Math.max(now, updatedAt) : now;
}

/**
 * Commits one change at the time `at`; gives the result of what it made, a version and when. Where the request has an
 * Idempotency-Key, its answer is kept in the same transaction.
 */
export async function commit(
  service: Service,
  request: HttpRequest,
  { change, at, resultOf }: { change: Change; at: number; resultOf: (made: Made) => Result },
): Promise<Result> {
  const result = resultOf({
    version: (change.expect === "absent" ? (change.after ?? 0) : change.expect) + 1,
    updatedAt: at,
  });
  await write(service, request, { changes: [change], at, ...receiptOf(service, request, result) });
  return result;
}

/** What a change makes beside the text. */
export interface Made {
  version: number;
  updatedAt: number;
}

/** As `commit`, for several changes at once. */
export async function commitAll(
  service: Service,
  request: HttpRequest,
  { work, result }: { work: Omit<Commit, "receipt">; result: Result },
): Promise<Result> {
  await write(service, request, { ...work, ...receiptOf(service, request, result) });
  return result;
}

/** A write that has nothing to change: its answer is kept where the request has an Idempotency-Key. */
export async function commitNothing(service: Service, request: HttpRequest, result: Result): Promise<Result> {
  if (request.keyed === undefined) return result;
  const kept = receiptOf(service, request, result);
  await write(service, request, { changes: [], at: service.now(), ...kept });
  return result;
}

function receiptOf(service: Service, request: HttpRequest, result: Result): Pick<Commit, "receipt"> {
  const receipt = receiptFor(service, request, result);
  return receipt === undefined ? noReceipt : { receipt };
}

const noReceipt = {};

/** Commits, and holds the request's Idempotency-Key until it is known what came of that. */
async function write(service: Service, request: HttpRequest, commit: Commit): Promise<Committed> {
  const by = request.principal === undefined ? commit : { ...commit, principal: request.principal.subject };
  const work = service.store.commit(by);
  if (request.keyed !== undefined) request.keyed.commit = work;
  return withinDeadline(service, work, outcomeUnknown);
}

/** A commit that takes too long may still happen: the client is told that nobody knows. */
function outcomeUnknown(): Problem {
  return new Problem(
    "OUTCOME_UNKNOWN",
    "The write took too long and may still take effect. Read the resource before you repeat the write.",
  );
}

/** For what prepares a write and may happen later without harm: a collection made, or an id that nobody uses. */
export function inTime<T>(service: Service, work: Promise<T>): Promise<T> {
  return withinDeadline(
    service,
    work,
    () => new Problem("UNAVAILABLE", "The store took too long and wrote nothing. Try again."),
  );
}

function withinDeadline<T>(service: Service, work: Promise<T>, problemWhenLate: () => Problem): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(problemWhenLate()), service.settings.limits.handlerTimeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
