/** Keeps the keys of an issuer in memory, and reads them again from time to time: from a URL, a file or the configuration. */
import { open } from "node:fs/promises";
import { getSystemErrorMessage } from "node:util";
import { Problem } from "../../errors.ts";
import type { KeySet } from "./key-set.ts";
import type { JwksPlace } from "./settings.ts";

/** The keys are read again after this time, so the service stops using a withdrawn key. */
const maxAgeMs = 10 * 60_000;

/** While the source cannot be read, the service uses the last keys for this additional time. */
const maxStaleMs = 60 * 60_000;

/** The shortest time between two reads. Tokens with invented key ids must not cause more requests to the issuer. */
const cooldownMs = 30_000;

/** What a key source depends on. */
export interface KeySourceParts {
  /** The key set as JSON text. */
  read: () => Promise<string>;
  /** Throws an Error if the text is not a usable key set. */
  toKeySet: (text: string) => KeySet;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
  /** Called with the reason when the source cannot be read. */
  warn: (reason: string) => void;
}

/** The keys of an issuer. The key set stays the same object until its text changes. */
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

  /** The keys in memory, if they are still usable. If they are old, this also starts to read them again. */
  atHand(): KeySet | undefined {
    const age = this.#parts.elapsed() - this.#readAt;
    if (age < maxAgeMs) return this.#keys;
    if (age >= maxAgeMs + maxStaleMs) return undefined;
    void this.#readAgain();
    return this.#keys;
  }

  /**
   * Reads the keys again, unless they were read recently. Call this for a token with an unknown key, or if there are no
   * keys in memory. Throws UNAVAILABLE if there are no usable keys.
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

/** The most bytes of a key set. */
const maxBytes = 1_048_576;

/** The time for one request to the issuer. */
const timeoutMs = 5_000;

/** The text of a key set. Size and time are limited. Throws an Error with the reason if it cannot be read. */
export function readKeys(place: JwksPlace): Promise<string> {
  switch (place.kind) {
    case "url":
      return fetchKeys(place.url);
    case "file":
      return readFile(place.path);
    case "inline":
      return Promise.resolve(JSON.stringify(place.jwks));
  }
}

async function fetchKeys(url: string): Promise<string> {
  const shown = url.replace(/[?#].*$/s, ""); // a query string can contain a secret
  // A redirect could lead to the keys of another issuer.
  const response = await fetch(url, {
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: "application/jwk-set+json, application/json" },
  }).catch((error: Error) => {
    throw new Error(`${shown} does not respond (${reasonOf(error)})`);
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${shown} responded with status ${response.status}`);
  }
  return textOf(response.body ?? [], shown);
}

async function readFile(path: string): Promise<string> {
  const file = await open(path).catch(({ errno = 0 }: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read: ${getSystemErrorMessage(errno)}`);
  });
  return textOf(file.createReadStream(), path);
}

/** Leaving the loop early closes the source. */
async function textOf(source: AsyncIterable<Uint8Array> | Uint8Array[], from: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of source) {
      length += chunk.length;
      if (length > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Error(`${from} cannot be read completely (${reasonOf(error as Error)})`);
  }
  if (length > maxBytes) throw new Error(`${from} is larger than ${maxBytes} bytes`);
  return decode(Buffer.concat(chunks), from);
}

function decode(bytes: Uint8Array, from: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${from} is not UTF-8`);
  }
}

/** The error of `fetch` says only "fetch failed". Its cause has the reason. */
function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
