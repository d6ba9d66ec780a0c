/** Knows API keys again. What the store has is the truth; it is remembered for less than a second. */
import { timingSafeEqual } from "node:crypto";
import type { ApiKey, Keys } from "../store/keys.ts";
import { hashKey, keyLength, prefixOf } from "./key-text.ts";
import type { Principal } from "./principal.ts";
import { invalidToken } from "./refusals.ts";
import { parseScopes } from "./scopes.ts";

/** A key that is revoked is refused everywhere within a second; the rest of it is for the read. */
const maxAgeMs = 900;

/** Last use is kept as roughly as that, so that reads stay reads. */
const useEveryMs = 3_600_000;

/** What a key ring depends on. */
export interface KeyRingParts {
  keys: Keys;
  /** Unix time in milliseconds. */
  now: () => number;
  /** Milliseconds since some moment, whatever happens to the clock on the wall. */
  elapsed: () => number;
}

/** A key as it was in the store a moment ago. */
interface Entry {
  key: ApiKey;
  hash: Buffer;
  principal: Principal;
  /** The key itself once somebody has shown it: to compare it takes a fraction of the time that a hash takes. */
  shown: Buffer | undefined;
  readAt: number;
  usedAt: number;
}

/** The API keys that a service takes. */
export class KeyRing {
  readonly #parts: KeyRingParts;
  readonly #entries = new Map<string, Entry>();
  readonly #compared = Buffer.alloc(keyLength);
  readonly #reading = new Map<string, Promise<Entry | undefined>>();

  constructor(parts: KeyRingParts) {
    this.#parts = parts;
  }

  /** Whose key it is. Throws INVALID_TOKEN, and what the store throws. */
  principalOf(text: string): Principal | Promise<Principal> {
    if (text.length !== keyLength) throw unknownKey();
    const prefix = prefixOf(text);
    const entry = this.#entries.get(prefix);
    if (entry !== undefined && this.#parts.elapsed() - entry.readAt < maxAgeMs) {
      return this.#judge(entry, text);
    }
    return this.#read(prefix).then((found) => this.#judge(found, text));
  }

  /** The same answer for a prefix that nobody has and for a wrong secret; only who has the whole key learns more. */
  #judge(entry: Entry | undefined, text: string): Principal {
    if (entry === undefined || !this.#isKeyOf(entry, text)) throw unknownKey();
    const { expiresAt, revokedAt } = entry.key;
    const now = this.#parts.now();
    if (revokedAt !== undefined) throw invalidToken("The API key was revoked.");
    if (expiresAt !== undefined && expiresAt <= now) throw invalidToken("The API key has expired.");
    if (now - entry.usedAt >= useEveryMs) this.#noteUse(entry, now);
    return entry.principal;
  }

  #isKeyOf(entry: Entry, text: string): boolean {
    this.#compared.write(text, "latin1"); // a header field has no other characters
    if (entry.shown !== undefined) return timingSafeEqual(entry.shown, this.#compared);
    if (!timingSafeEqual(entry.hash, hashKey(text))) return false;
    entry.shown = Buffer.from(this.#compared);
    return true;
  }

  /** Requests that come together share one look into the store. */
  #read(prefix: string): Promise<Entry | undefined> {
    const known = this.#reading.get(prefix);
    if (known !== undefined) return known;
    const reading = this.#readNow(prefix).finally(() => this.#reading.delete(prefix));
    this.#reading.set(prefix, reading);
    return reading;
  }

  async #readNow(prefix: string): Promise<Entry | undefined> {
    const readAt = this.#parts.elapsed(); // before the read, which may not see what happens during it
    const key = await this.#parts.keys.find(prefix);
    const known = this.#entries.get(prefix);
    this.#entries.delete(prefix);
    if (key === undefined) return undefined;
    const usedAt = Math.max(known?.usedAt ?? 0, key.lastUsedAt ?? 0);
    const entry = {
      key,
      hash: Buffer.from(key.hash, "base64url"),
      principal: toPrincipal(key),
      shown: known?.key.hash === key.hash ? known.shown : undefined,
      readAt,
      usedAt,
    };
    this.#entries.set(prefix, entry);
    return entry;
  }

  #noteUse(entry: Entry, now: number): void {
    entry.usedAt = now - (now % useEveryMs);
    // Nobody waits for it, and where it fails the store says so itself.
    this.#parts.keys.noteUse(entry.key.prefix, entry.usedAt).catch(() => {});
  }
}

function toPrincipal({ subject, roles, scopes }: ApiKey): Principal {
  return { subject, roles, claims: {}, scopes: scopes === undefined ? undefined : parseScopes(scopes) };
}

function unknownKey(): Error {
  return invalidToken("The API key is unknown.");
}
