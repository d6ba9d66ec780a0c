/** A new random key for a thing to be done. (`crypto.randomUUID` is not there for pages without encryption.) */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
