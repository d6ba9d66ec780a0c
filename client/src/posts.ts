/** POST requests: the Idempotency-Key, with which a retry has no second effect, and the id of what a request created. */
import { HoldfastError } from "./errors.ts";
import type { Call, CallOptions } from "./transport.ts";

/** The options of a create. */
export interface CreateOptions extends CallOptions {
  /** Several creates with the same key create only one resource. @default a new key */
  readonly idempotencyKey?: string;
}

/** A new random Idempotency-Key. Pages without encryption have no `crypto.randomUUID`. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A POST with a key. */
export function keyedPost(call: CallOptions & Pick<Call, "path" | "content">, key = newKey()): Call {
  return { ...call, method: "POST", headers: { "Idempotency-Key": key }, isRepeatable: true };
}

/**
 * The id at the end of a Location header. A caller who cannot read the new resource gets no other. The service makes UUIDs and
 * integers.
 */
export function idAt(location: string | undefined): string | number {
  if (location === undefined) throw new HoldfastError("The response has no body and no Location header.");
  const text = decodeURIComponent(location.slice(location.lastIndexOf("/") + 1));
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}
