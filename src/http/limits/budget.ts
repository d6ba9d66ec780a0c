/**
 * What all connections together may make the service hold in memory. What is small always goes through, so that a few
 * greedy clients take room from large requests and answers only; the number of connections bounds the small ones.
 */
import { Problem } from "../../errors.ts";

/** What is held, and how much may be. Whoever adds to `held` or `requests` takes the same off it again. */
export interface Budget {
  /** Bytes. */
  readonly max: number;
  held: number;
  /** Requests under way. */
  readonly maxRequests: number;
  requests: number;
}

/** Content and answers up to this size are never refused for want of room. */
const smallBytes = 16_384;

/** A budget of which nothing is held. */
export function createBudget(max: number, maxRequests = Number.POSITIVE_INFINITY): Budget {
  return { max, held: 0, maxRequests, requests: 0 };
}

/** Whether as many requests are under way as may be. */
export function isFull({ requests, maxRequests }: Budget): boolean {
  return requests >= maxRequests;
}

/** The problem of a request for which that is so. */
export function noRoomForRequest(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service is busy with the most requests that it can process at once. Try again.",
  );
}

/**
 * Whether something of this size must wait for better times, `own` bytes of it being held already. It is for what others
 * hold, so that a single thing larger than the maximum can be had.
 */
export function isBeyond({ max, held }: Budget, bytes: number, own = 0): boolean {
  return bytes > smallBytes && held - own >= max;
}

/** Whether all the memory or all the places are in use, so that requests of others are refused. */
export function isUsedUp(budget: Budget): boolean {
  return budget.held >= budget.max || isFull(budget);
}

/** The problem of content that the service has no room for. The connection closes, since content is still to come. */
export function noRoomForContent(): Problem {
  return new Problem("UNAVAILABLE", "The service has no memory left for the request body now. Try again.", {
    headers: { connection: "close" },
  });
}

/** The problem of an answer that the service has no room for. */
export function noRoomForAnswer(): Problem {
  return new Problem(
    "UNAVAILABLE",
    "The service has no memory left for such a large response now. Try again.",
  );
}
