/** New API keys, and which of those that are there still let somebody in. */
import type { ApiKey, Keys } from "../store/keys.ts";
import { createKeyText, hashKey, prefixOf } from "./key-text.ts";

/** What the maker of a key says of it. */
export type KeyWish = Pick<ApiKey, "name" | "subject" | "roles" | "scopes" | "expiresAt">;

/** A new key: the text, which is shown once, and what is kept. */
export interface NewKey {
  text: string;
  key: ApiKey;
}

/** Makes a key and adds it to those that are kept. */
export async function addKey(keys: Pick<Keys, "add">, wish: KeyWish, createdAt: number): Promise<NewKey> {
  for (;;) {
    const made = createKey(wish, createdAt);
    if (await keys.add(made.key)) return made;
    // Its prefix is another's, which happens once in 2⁴⁰ times.
  }
}

function createKey(wish: KeyWish, createdAt: number): NewKey {
  const text = createKeyText();
  const hash = hashKey(text).toString("base64url");
  const key = {
    prefix: prefixOf(text),
    hash,
    ...wish,
    createdAt,
    revokedAt: undefined,
    lastUsedAt: undefined,
  };
  return { text, key };
}

/** Whether the key lets its holder in at a time. */
export function isLive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt);
}

/** Whether the key lets its holder in for ever, until somebody revokes it. */
export function isEndless(key: ApiKey, now: number): boolean {
  return key.expiresAt === undefined && isLive(key, now);
}
