/** Offers the token for the first API key, in every thread. */
import { FirstKey, type FirstKeyOffer } from "../access/first-key.ts";
import { clockSeconds } from "../counters.ts";
import type { OpenService } from "./open-service.ts";

/** A clock in milliseconds that is the same in all threads. */
export function sharedClock(): number {
  return clockSeconds() * 1_000;
}

/** Whether the store never had an API key, and the service can create one now. Throws the errors of the store. */
export async function needsFirstKey({ service, store }: OpenService): Promise<boolean> {
  return !service.readOnly && service.hasStarted() && (await store.keys.all()).length === 0;
}

/** Lets the token of an offer be exchanged in this thread. */
export function acceptFirstKey({ service, store }: OpenService, offer: FirstKeyOffer): void {
  service.firstKey = new FirstKey({ keys: store.keys, now: service.now, elapsed: sharedClock }, offer);
}
