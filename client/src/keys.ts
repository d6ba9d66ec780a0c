/** Idempotency-Keys: retries of a request with a key have no second effect. */
import type { Call, CallOptions } from "./transport.ts";

/** A new random Idempotency-Key. Pages without encryption have no `crypto.randomUUID`. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A POST with a key. */
export function keyedPost(call: CallOptions & Pick<Call, "path" | "content">, key = newKey()): Call {
  return { ...call, method: "POST", headers: { "Idempotency-Key": key }, isRepeatable: true };
}
