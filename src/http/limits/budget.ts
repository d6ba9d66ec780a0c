/**
 * The memory that all requests and responses can use together. Small ones always pass: if a few clients use up the memory,
 * only large requests and responses are refused. The number of connections limits the small ones.
 */
import { Problem } from "../../errors.ts";

/** The memory in use and the requests in progress. Code that adds to `held` or `requests` must subtract the same later. */
export interface Budget {
  /** The limit of `held`, in bytes. */
  readonly max: number;
  held: number;
  /** The limit of `requests`. */
  readonly maxRequests: number;
  /** Requests in progress. */
  requests: number;
}

/** Bodies up to this size, in bytes, are never refused. */
export const smallBytes = 16_384;

/** A budget that nothing uses yet. */
export function createBudget(max: number, maxRequests = Number.POSITIVE_INFINITY): Budget {
  return { max, held: 0, maxRequests, requests: 0 };
}

/** Whether no further request can start. */
export function isFull({ requests, maxRequests }: Budget): boolean {
  return requests >= maxRequests;
}

/** The problem of a request that cannot start. */
export function tooManyInProgress(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service is busy with the most requests that it can process at once. Try again.",
  );
}

/**
 * Whether a body of this size must be refused. `own` bytes of it are held already. Only what others hold counts, so a
 * single body can be larger than the limit.
 */
export function isOverBudget({ max, held }: Budget, bytes: number, own = 0): boolean {
  return bytes > smallBytes && held - own >= max;
}

/** Whether the memory or the number of requests is used up, so that other requests are refused. */
export function isUsedUp(budget: Budget): boolean {
  return budget.held >= budget.max || isFull(budget);
}

/** The problem of content without memory. The connection closes, because the client is still sending. */
export function noMemoryForContent(): Problem {
  return new Problem("UNAVAILABLE", "The service has no memory left for the request body now. Try again.", {
    headers: { connection: "close" },
  });
}

/** The problem of a write that changes large resources without memory for them. */
export function noMemoryForResource(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service has no memory left for such large resources now, and changed nothing. Try again.",
  );
}

/** The problem of a request or response without memory. */
export function noMemoryForResponse(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service has no memory left for a request or response of this size now. Try again.",
  );
}
