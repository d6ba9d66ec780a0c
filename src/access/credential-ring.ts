/** Checks credentials whose hashes the store keeps: API keys and sessions. It keeps each one in memory for less than a second. */
import { hash, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { invalidToken } from "./challenges.ts";
import type { Principal } from "./principal.ts";

/** A credential that has ended must stop working within a second, on every instance. The rest of the second is for the read. */
const maxAgeMs = 900;

/** The most credentials in memory. The one that was read first is removed first. */
const maxEntries = 10_000;

/** How the credentials of one kind are found and judged. `Found` is what the store has about one. */
export interface CredentialKind<Found> {
  /** What a credential is in an error, such as `API key`. */
  called: string;
  /** The length of every credential. */
  length: number;
  /** The public part of a credential, by which the store finds it. */
  nameOf(text: string): string;
  /** Sees every change that was confirmed to any process before the call. */
  find(name: string): Promise<Found | undefined>;
  /** The SHA-256 of the whole credential, in base64url. */
  hashOf(found: Found): string;
  principalOf(found: Found): Principal;
  /** The last use that the store knows: Unix time in milliseconds, like all times here. */
  usedAt(found: Found): number;
  /** Throws INVALID_TOKEN if the credential is no longer valid. `usedAt` is the last use that this thread knows. */
  requireValid(found: Found, times: { now: number; usedAt: number }): void;
  /** The precision of the stored time of use. A higher precision would make each read of a client a write. */
  useEveryMs: number;
  /** Stores the time of a use. */
  noteUse(found: Found, at: number): Promise<void>;
}

interface Clocks {
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
}

/** A credential as it was in the store at `readAt`. */
interface Entry<Found> {
  found: Found;
  hash: Buffer;
  principal: Principal;
  /** The credential itself, after a caller has sent it. A comparison takes a fraction of the time of a hash. */
  text: Buffer | undefined;
  readAt: number;
  usedAt: number;
  /** The last use that this thread has stored or is storing. */
  notedAt: number;
}

/** A read of the store that has begun at `readAt`. */
interface Reading<Found> {
  readAt: number;
  entry: Promise<Entry<Found> | undefined>;
}

/** The credentials of one kind that a service accepts. */
export class CredentialRing<Found extends object> {
  readonly #kind: CredentialKind<Found>;
  readonly #clocks: Clocks;
  readonly #entries = new LRUCache<string, Entry<Found>>({ max: maxEntries });
  readonly #compared: Buffer;
  readonly #reading = new Map<string, Reading<Found>>();

  constructor(kind: CredentialKind<Found>, clocks: Clocks) {
    this.#kind = kind;
    this.#clocks = clocks;
    this.#compared = Buffer.alloc(kind.length);
  }

  /** The principal of a credential. Throws INVALID_TOKEN, and the errors of the store. */
  principalOf(text: string): Principal | Promise<Principal> {
    if (text.length !== this.#kind.length) throw this.#unknown();
    const name = this.#kind.nameOf(text);
    const entry = this.#entries.peek(name);
    if (entry !== undefined && this.#clocks.elapsed() - entry.readAt < maxAgeMs)
      return this.#check(entry, text);
    return this.#read(name).then((found) => this.#check(found, text));
  }

  /** An unknown name and a wrong secret get the same response. Only the owner of a credential learns why it is not valid. */
  #check(entry: Entry<Found> | undefined, text: string): Principal {
    if (entry === undefined || !this.#isTextOf(entry, text)) throw this.#unknown();
    const now = this.#clocks.now();
    this.#kind.requireValid(entry.found, { now, usedAt: entry.usedAt });
    entry.usedAt = Math.max(entry.usedAt, now);
    if (now - entry.notedAt >= this.#kind.useEveryMs) this.#noteUse(entry, now);
    return entry.principal;
  }

  #isTextOf(entry: Entry<Found>, text: string): boolean {
    this.#compared.write(text, "latin1"); // a header has no other characters
    if (entry.text !== undefined) return timingSafeEqual(entry.text, this.#compared);
    if (!timingSafeEqual(entry.hash, hashCredential(text))) return false;
    entry.text = Buffer.from(this.#compared);
    return true;
  }

  /** Requests that arrive together share one read of the store, but none joins a read that is too old to trust. */
  #read(name: string): Promise<Entry<Found> | undefined> {
    const readAt = this.#clocks.elapsed(); // the read may not see a change that happens during it
    const known = this.#reading.get(name);
    if (known !== undefined && readAt - known.readAt < maxAgeMs) return known.entry;
    const entry = this.#readNow(name, readAt).finally(() => {
      if (this.#reading.get(name)?.entry === entry) this.#reading.delete(name);
    });
    this.#reading.set(name, { readAt, entry });
    return entry;
  }

  async #readNow(name: string, readAt: number): Promise<Entry<Found> | undefined> {
    const found = await this.#kind.find(name);
    const known = this.#entries.peek(name);
    this.#entries.delete(name);
    if (found === undefined) return undefined;
    const hashed = Buffer.from(this.#kind.hashOf(found), "base64url");
    const usedAt = this.#kind.usedAt(found);
    const entry = {
      found,
      hash: hashed,
      principal: this.#kind.principalOf(found),
      text: known?.hash.equals(hashed) === true ? known.text : undefined,
      readAt,
      usedAt: Math.max(known?.usedAt ?? 0, usedAt),
      notedAt: Math.max(known?.notedAt ?? 0, usedAt),
    };
    this.#entries.set(name, entry);
    return entry;
  }

  #noteUse(entry: Entry<Found>, now: number): void {
    entry.notedAt = now - (now % this.#kind.useEveryMs);
    // No request waits for this. If it fails, the store reports the failure itself.
    this.#kind.noteUse(entry.found, entry.notedAt).catch(() => {});
  }

  #unknown(): Error {
    return invalidToken(`The ${this.#kind.called} is unknown.`);
  }
}

/** What the store keeps of a credential. One round of SHA-256 is enough, because 256 random bits cannot be guessed. */
export function hashCredential(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
