/** API keys: what they look like, how they are created and replaced, and when they are valid. `credential-ring.ts` checks them. */
import { randomBytes } from "node:crypto";
import type { ApiKey, Keys } from "../store/port/keys.ts";
import { hashCredential } from "./credential-ring.ts";

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
      hash: hashCredential(text).toString("base64url"),
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

/** Whether the key is valid at a time. */
export function isLive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt);
}

/** Whether the key is valid until someone revokes it. */
export function isEndless(key: ApiKey, now: number): boolean {
  return key.expiresAt === undefined && isLive(key, now);
}

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

/** Random bytes as text: only digits and lower-case letters, so that a double click selects all of a key. */
export function randomText(bytes: number, length: number): string {
  return BigInt(`0x${randomBytes(bytes).toString("hex")}`)
    .toString(36)
    .padStart(length, "0");
}

/** Why a key cannot have the id of an account as its subject. */
export const subjectIsUser =
  "The subject is the id of a user of this service. Users create their own keys, in their sessions (POST _auth/sessions). Choose another subject.";
