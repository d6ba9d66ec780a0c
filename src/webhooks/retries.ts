/** When a failed delivery is tried again. */

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

/** A receiver can put a retry off by at most this, in milliseconds. */
export const longestRetryAfterMs = 24 * hourMs;

/**
 * The wait after this number of failed attempts, in milliseconds; `undefined` if no retry follows. `random` is from 0 to 1.
 * A receiver that asks for a longer wait (Retry-After) gets it.
 */
export function waitAfter(attempts: number, random: number, retryAfterMs = 0): number | undefined {
  const wait = retryWaits[attempts - 1];
  if (wait === undefined) return undefined;
  const spread = Math.round(wait * (1 - jitter + 2 * jitter * random));
  return Math.max(spread, Math.min(retryAfterMs, longestRetryAfterMs));
}

/** The wait that a Retry-After header asks for (RFC 9110 §10.2.3), in milliseconds; 0 if it is missing or invalid. */
export function retryAfterOf(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
