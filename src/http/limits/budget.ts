/**
 * The memory that all requests and responses can use together. Small ones always pass: if a few clients use up the memory,
 * only large requests and responses are refused. The number of connections limits the small ones.
 */
import { Problem } from "../../errors.ts";
import { type Count, OwnCount } from "./count.ts";

/** The counts that a budget limits. */
interface Counts {
  readonly held: Count;
  readonly requests: Count;
}

/**
 * The memory in use and the requests in progress. Each thread has its own part of both, and the limits are for all threads
 * together. Code that adds to `held` or `requests` must subtract the same later.
 */
export class Budget {
  /** The limit of `heldByAll`, in bytes. */
  readonly max: number;
  /** The limit of `requestsOfAll`. */
  readonly maxRequests: number;
  readonly #held: Count;
  readonly #requests: Count;

  constructor(max: number, maxRequests: number, { held, requests }: Counts) {
    this.max = max;
    this.maxRequests = maxRequests;
    this.#held = held;
    this.#requests = requests;
  }

  /** The bytes that this thread holds. */
  get held(): number {
    return this.#held.own;
  }

  set held(bytes: number) {
    this.#held.own = bytes;
  }

  /** The bytes that all threads hold. */
  get heldByAll(): number {
    return this.#held.all;
  }

  /** The requests in progress in this thread. */
  get requests(): number {
    return this.#requests.own;
  }

  set requests(count: number) {
    this.#requests.own = count;
  }

  /** The requests in progress in all threads. */
  get requestsOfAll(): number {
    return this.#requests.all;
  }
}

/** Bodies up to this size, in bytes, are never refused. */
export const smallBytes = 16_384;

/** A budget that nothing uses yet; without `counts`, for one user in one thread. */
export function createBudget(
  max: number,
  maxRequests = Number.POSITIVE_INFINITY,
  counts: Counts = { held: new OwnCount(), requests: new OwnCount() },
): Budget {
  return new Budget(max, maxRequests, counts);
}

/** Whether no further request can start. */
export function isFull(budget: Budget): boolean {
  return budget.requestsOfAll >= budget.maxRequests;
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
export function isOverBudget(budget: Budget, bytes: number, own = 0): boolean {
  return bytes > smallBytes && budget.heldByAll - own >= budget.max;
}

/** Whether the memory or the number of requests is used up, so that other requests are refused. */
export function isUsedUp(budget: Budget): boolean {
  return budget.heldByAll >= budget.max || isFull(budget);
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
