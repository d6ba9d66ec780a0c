/** What an attempt to deliver changes: the record of the delivery, and the state of its webhook. */
import type { DeliveryRecord, WebhookState } from "./records.ts";
import { waitAfter } from "./retries.ts";
import type { AttemptResult } from "./send.ts";

/** A webhook is disabled if all its attempts fail for this long, in milliseconds. */
export const maxFailingMs = 5 * 24 * 3_600_000;

/** The event of a delivery, before or after attempts. */
export type Attempted = Pick<
  DeliveryRecord,
  "webhook" | "event" | "type" | "collection" | "sequence" | "kind" | "attempts"
>;

/** The record after one more attempt. */
export function recordAfter(
  event: Attempted,
  { isDelivered, status, milliseconds, response, error, retryAfterMs }: AttemptResult,
  { at, random }: { at: number; random: number },
): DeliveryRecord {
  const attempts = event.attempts + 1;
  const wait = isDelivered ? undefined : waitAfter(attempts, random, retryAfterMs);
  return {
    ...event,
    state: isDelivered ? "delivered" : wait === undefined ? "dead" : "retrying",
    attempts,
    at,
    status: status ?? null,
    milliseconds,
    response,
    error: error ?? null,
    nextAt: wait === undefined ? null : at + wait,
  };
}

/** The record of a delivery that cannot be tried again. It keeps the result of the last attempt, if there was one. */
export function deadRecord(before: DeliveryRecord | undefined, now: DeliveryRecord): DeliveryRecord {
  return { ...(before ?? now), state: "dead", error: now.error, nextAt: null };
}

/** The state after an attempt. */
export function stateAfter(state: WebhookState, { isDelivered }: AttemptResult, at: number): WebhookState {
  if (isDelivered) return { ...state, lastSuccessAt: at, failingSince: undefined };
  return { ...state, lastFailureAt: at, failingSince: state.failingSince ?? at };
}

/** Why the service stops delivering to a webhook after an attempt; `undefined` if it continues. */
export function reasonToDisable(
  { failingSince }: WebhookState,
  { isDelivered, status }: AttemptResult,
  at: number,
): string | undefined {
  if (isDelivered) return undefined;
  if (status === 410) return "The receiver responded with 410 Gone.";
  const isLong = failingSince !== undefined && at - failingSince >= maxFailingMs;
  return isLong ? "Every delivery of the last five days has failed." : undefined;
}
