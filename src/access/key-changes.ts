/** What the creation and the replacement of API keys have in common, on the command line and over HTTP. */
import type { ApiKey, Keys } from "../store/port/keys.ts";
import { addKey, isLive, keyMark, type NewKey } from "./api-key.ts";

/** Whether a text can be the subject of a key: 1 to 100 printable characters, without a space at either end. */
export function isKeySubject(text: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(text) && text.trim() === text;
}

/** Whether a text can be the name of a key. It must not look like a key. */
export function isKeyName(text: string): boolean {
  return isKeySubject(text) && !text.startsWith(keyMark);
}

/** Whether a text can be a role of a key. */
export function isKeyRole(text: string): boolean {
  return isKeySubject(text) && !/\s/.test(text);
}

/** The valid key that has a name already. */
export function liveKeyNamed(all: readonly ApiKey[], name: string, now: number): ApiKey | undefined {
  return all.find((key) => key.name === name && isLive(key, now));
}

/** The expiry of a key that replaces another one: the same time after its creation as before. */
export function sameLifetime({ createdAt, expiresAt }: ApiKey, now: number): number | undefined {
  return expiresAt === undefined ? undefined : now + (expiresAt - createdAt);
}

/** Creates a key with the same properties. The old key keeps working for `overlapMs`. */
export async function replaceKey(
  keys: Pick<Keys, "add" | "invalidate">,
  { prefix, name, subject, roles, scopes }: ApiKey,
  { expiresAt, overlapMs, now }: { expiresAt: number | undefined; overlapMs: number; now: number },
): Promise<NewKey> {
  // The new key comes first, so that one of the two always works.
  const created = await addKey(keys, { name, subject, roles, scopes, expiresAt }, now);
  await keys.invalidate(prefix, overlapMs === 0 ? { revokedAt: now } : { expiresAt: now + overlapMs });
  return created;
}
