/** Keeps an issuer's keys at hand: read now and then, seldom asked for, and used for a while when they cannot be had. */
import { Problem } from "../../errors.ts";
import type { KeySet } from "./key-set.ts";

/** A key that the issuer has withdrawn is used for no longer, where the issuer can be reached. */
const maxAgeMs = 10 * 60_000;

/** So much longer the last keys are used while the source cannot be read. */
const maxStaleMs = 60 * 60_000;

/** Tokens with made-up names of keys must not make us ask the issuer over and over. */
const cooldownMs = 30_000;

/** What a key source depends on. */
export interface KeySourceParts {
  /** The key set as JSON text. */
  read: () => Promise<string>;
  /** Throws an Error for what is no key set that can be used. */
  toKeySet: (text: string) => KeySet;
  /** Milliseconds since some moment. */
  elapsed: () => number;
  /** Told when the source could not be read, and why. */
  warn: (reason: string) => void;
}

/** Where an issuer's keys come from. The set that it gives stays the same object while its text does. */
export class KeySource {
  readonly #parts: KeySourceParts;
  #text: string | undefined;
  #keys: KeySet | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #failure: unknown;

  constructor(parts: KeySourceParts) {
    this.#parts = parts;
  }

  /** The keys, where they are known and may be used; they are read anew behind the answer when they are old. */
  atHand(): KeySet | undefined {
    const age = this.#parts.elapsed() - this.#readAt;
    if (age < maxAgeMs) return this.#keys;
    if (age >= maxAgeMs + maxStaleMs) return undefined;
    void this.#readAgain();
    return this.#keys;
  }

  /**
   * The keys, read anew if that was not done lately: where none are at hand, or a token's key is not among them. Throws
   * UNAVAILABLE where there are none that may be used.
   */
  async renewed(): Promise<KeySet> {
    await this.#readAgain();
    return this.#usable();
  }

  #usable(): KeySet {
    const age = this.#parts.elapsed() - this.#readAt;
    if (this.#keys !== undefined && age < maxAgeMs + maxStaleMs) return this.#keys;
    throw new Problem("UNAVAILABLE", "The keys to verify tokens are not available now. Try again.", {
      cause: this.#failure,
    });
  }

  #readAgain(): Promise<void> {
    if (this.#reading !== undefined) return this.#reading;
    const now = this.#parts.elapsed();
    if (now - this.#triedAt < cooldownMs) return Promise.resolve();
    this.#triedAt = now;
    this.#reading = this.#read(now).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(now: number): Promise<void> {
    try {
      const text = await this.#parts.read();
      if (text !== this.#text) this.#keys = this.#parts.toKeySet(text);
      this.#text = text;
      this.#readAt = now;
    } catch (error) {
      this.#failure = error;
      this.#parts.warn(error instanceof Error ? error.message : String(error));
    }
  }
}
