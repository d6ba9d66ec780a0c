/** Checks API keys. It uses a key from memory for less than a second. */
import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ApiKey, Keys } from "../store/port/keys.ts";
import { hashKey, keyLength, prefixOf } from "./api-key.ts";
import { invalidToken } from "./challenges.ts";
import { type Principal, parseScopes } from "./principal.ts";

/** A revoked key must stop working within a second, on every instance. The rest of the second is for the read. */
const maxAgeMs = 900;

/** The precision of `lastUsedAt`. A higher precision would make each read of a client a write. */
const useEveryMs = 3_600_000;

/** The most keys in memory. The key that was read first is removed first. */
const maxKeys = 10_000;

/** What a key ring depends on. */
export interface KeyRingParts {
  keys: Keys;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
}

/** A key as it was in the store at `readAt`. */
interface Entry {
  key: ApiKey;
  hash: Buffer;
  principal: Principal;
  /** The text of the key, after a caller has sent it. A comparison takes a fraction of the time of a hash. */
  text: Buffer | undefined;
  readAt: number;
  usedAt: number;
}

/** The API keys that a service accepts. */
export class KeyRing {
  readonly #parts: KeyRingParts;
  readonly #entries = new LRUCache<string, Entry>({ max: maxKeys });
  readonly #compared = Buffer.alloc(keyLength);
  readonly #reading = new Map<string, Promise<Entry | undefined>>();

  constructor(parts: KeyRingParts) {
    this.#parts = parts;
  }

  /** The principal of a key. Throws INVALID_TOKEN, and the errors of the store. */
  principalOf(text: string): Principal | Promise<Principal> {
    if (text.length !== keyLength) throw unknownKey();
    const prefix = prefixOf(text);
    const entry = this.#entries.peek(prefix);
    if (entry !== undefined && this.#parts.elapsed() - entry.readAt < maxAgeMs) {
      return this.#check(entry, text);
    }
    return this.#read(prefix).then((found) => this.#check(found, text));
  }

  /** An unknown prefix and a wrong secret get the same response. Only the owner of the key learns that it has expired. */
  #check(entry: Entry | undefined, text: string): Principal {
    if (entry === undefined || !this.#isKeyOf(entry, text)) throw unknownKey();
    const { expiresAt, revokedAt } = entry.key;
    const now = this.#parts.now();
    if (revokedAt !== undefined) throw invalidToken("The API key was revoked.");
    if (expiresAt !== undefined && expiresAt <= now) throw invalidToken("The API key has expired.");
    if (now - entry.usedAt >= useEveryMs) this.#noteUse(entry, now);
    return entry.principal;
  }

  #isKeyOf(entry: Entry, text: string): boolean {
    this.#compared.write(text, "latin1"); // a header has no other characters
    if (entry.text !== undefined) return timingSafeEqual(entry.text, this.#compared);
    if (!timingSafeEqual(entry.hash, hashKey(text))) return false;
    entry.text = Buffer.from(this.#compared);
    return true;
  }

  /** Requests that arrive together share one read of the store. */
  #read(prefix: string): Promise<Entry | undefined> {
    const known = this.#reading.get(prefix);
    if (known !== undefined) return known;
    const reading = this.#readNow(prefix).finally(() => this.#reading.delete(prefix));
    this.#reading.set(prefix, reading);
    return reading;
  }

  async #readNow(prefix: string): Promise<Entry | undefined> {
    const readAt = this.#parts.elapsed(); // the read may not see a change that happens during it
    const key = await this.#parts.keys.find(prefix);
    const known = this.#entries.peek(prefix);
    this.#entries.delete(prefix);
    if (key === undefined) return undefined;
    const usedAt = Math.max(known?.usedAt ?? 0, key.lastUsedAt ?? 0);
    const entry = {
      key,
      hash: Buffer.from(key.hash, "base64url"),
      principal: toPrincipal(key),
      text: known?.key.hash === key.hash ? known.text : undefined,
      readAt,
      usedAt,
    };
    this.#entries.set(prefix, entry);
    return entry;
  }

  #noteUse(entry: Entry, now: number): void {
    entry.usedAt = now - (now % useEveryMs);
    // No request waits for this. If it fails, the store reports the failure itself.
    this.#parts.keys.noteUse(entry.key.prefix, entry.usedAt).catch(() => {});
  }
}

function toPrincipal({ subject, roles, scopes }: ApiKey): Principal {
  return { subject, roles, claims: {}, scopes: scopes === undefined ? undefined : parseScopes(scopes) };
}

function unknownKey(): Error {
  return invalidToken("The API key is unknown.");
}
