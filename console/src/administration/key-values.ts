/** The values of the form for API keys. */
import type { ApiKey } from "holdfast-client";

export type KeyState = "valid" | "revoked" | "expired";

/** A key that was revoked also counts as revoked after its expiry. */
export function stateOf({ valid, revokedAt }: Pick<ApiKey, "valid" | "revokedAt">): KeyState {
  if (valid) return "valid";
  return revokedAt === null ? "expired" : "revoked";
}

/** Valid keys first, the newest of each first. */
export function keysInOrder(keys: readonly ApiKey[]): ApiKey[] {
  return keys.toSorted((a, b) => Number(b.valid) - Number(a.valid) || b.createdAt.localeCompare(a.createdAt));
}

const hourMs = 3_600_000;

/** Whether a use is so recent that its time says nothing: the service records it to the hour. */
export function isThisHour(text: string, now: number): boolean {
  return now - Date.parse(text) < hourMs;
}

const dayMs = 86_400_000;

/** The expiry as the service reads it: never, a number of days from now, or the end of a date in UTC. */
export function expiryOf(choice: string, date: string, now: number): string | null {
  if (choice === "never") return null;
  if (choice !== "date") return new Date(now + Number(choice) * dayMs).toISOString();
  const start = Date.parse(date);
  return Number.isNaN(start) ? date : new Date(start + dayMs).toISOString();
}
