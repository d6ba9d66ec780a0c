/** What an attempt changes, and when the next one follows. */

import type { Attempted, Outcome } from "./consumer.ts";
import type { ConsumerState, DeliveryRecord } from "./consumer-records.ts";

/** The record after one more attempt. */
export function recordAfter(
  event: Attempted,
  { isDelivered, milliseconds, error, isFinal, retryAfterMs, details }: Outcome,
  { at, random }: { at: number; random: number },
): DeliveryRecord {
  const attempts = event.attempts + 1;
  const wait = isDelivered || isFinal === true ? undefined : waitAfter(attempts, random, retryAfterMs);
  return {
    ...event,
    state: isDelivered ? "delivered" : wait === undefined ? "dead" : "retrying",
    attempts,
    at,
    milliseconds,
    error,
    details,
    nextAt: wait === undefined ? null : at + wait,
  };
}

/** The state of a consumer after an attempt. */
export function stateAfter(
  state: ConsumerState,
  { isDelivered }: Pick<Outcome, "isDelivered">,
  at: number,
): ConsumerState {
  if (isDelivered) return { ...state, lastSuccessAt: at, failingSince: undefined };
  return { ...state, lastFailureAt: at, failingSince: state.failingSince ?? at };
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The waits before the retries, in milliseconds. After the last one, a delivery is dead. */
export const retryWaits: readonly number[] = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** A wait is up to this part longer or shorter, so that failed deliveries do not come back all at once. */
const jitter = 0.2;

/** A receiver or a function can put a retry off by at most this, in milliseconds. */
export const longestRetryAfterMs = 24 * hourMs;

/**
 * The wait after this number of failed attempts, in milliseconds; `undefined` if no retry follows. `random` is from 0 to 1.
 * The least wait that an attempt asks for counts.
 */
export function waitAfter(attempts: number, random: number, retryAfterMs = 0): number | undefined {
  const wait = retryWaits[attempts - 1];
  if (wait === undefined) return undefined;
  const spread = Math.round(wait * (1 - jitter + 2 * jitter * random));
  return Math.max(spread, Math.min(retryAfterMs, longestRetryAfterMs));
}
