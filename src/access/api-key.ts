/** API keys: what they look like, how they are created, and when they are valid. `key-ring.ts` checks them. */
import { hash, randomBytes } from "node:crypto";
import type { ApiKey, Keys } from "../store/port/keys.ts";

/** The start of every API key. Programs that search for published secrets can recognise it. */
export const keyMark = "hf_";

const nameBytes = 5;
const nameLength = 8;
const secretBytes = 32;
const secretLength = 50;

/** The mark and the name. This part of a key is public. */
const prefixLength = keyMark.length + nameLength;

/** The length of every key: the prefix, `_`, and a secret of 256 random bits. */
export const keyLength = prefixLength + 1 + secretLength;

/** The properties of a key that its creator chooses. */
export type KeyProperties = Pick<ApiKey, "name" | "subject" | "roles" | "scopes" | "expiresAt">;

/** A new key: its text, which nothing stores, and what the store keeps. */
export interface NewKey {
  text: string;
  key: ApiKey;
}

/** Creates a key and adds it to the store. */
export async function addKey(
  keys: Pick<Keys, "add">,
  properties: KeyProperties,
  createdAt: number,
): Promise<NewKey> {
  for (;;) {
    const text = createKeyText();
    const key = {
      prefix: prefixOf(text),
      hash: hashKey(text).toString("base64url"),
      ...properties,
      createdAt,
      revokedAt: undefined,
      lastUsedAt: undefined,
    };
    if (await keys.add(key)) return { text, key };
    // Another key has this prefix. The chance is 1 in 2⁴⁰ for each key in the store.
  }
}

/** The text of a new key. */
export function createKeyText(): string {
  return `${keyMark}${randomText(nameBytes, nameLength)}_${randomText(secretBytes, secretLength)}`;
}

/** The public part of a key. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/** Whether a text can be the public part of a key. */
export function isKeyPrefix(text: string): boolean {
  return text.length === prefixLength && /^hf_[0-9a-z]+$/.test(text);
}

/** What the store keeps of a key. One round of SHA-256 is enough, because 256 random bits cannot be guessed. */
export function hashKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** Whether the key is valid at a time. */
export function isLive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt);
}

/** Whether the key is valid until someone revokes it. */
export function isEndless(key: ApiKey, now: number): boolean {
  return key.expiresAt === undefined && isLive(key, now);
}

/** Only digits and lower-case letters, so that a double click selects the whole key. */
function randomText(bytes: number, length: number): string {
  return BigInt(`0x${randomBytes(bytes).toString("hex")}`)
    .toString(36)
    .padStart(length, "0");
}
