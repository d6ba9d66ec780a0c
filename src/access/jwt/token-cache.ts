/** Tokens that were found to hold, so that each is checked once. */
import { hash } from "node:crypto";
import type { Principal } from "../principal.ts";
import type { KeySet } from "./key-set.ts";

const maxTokens = 10_000;

interface Known {
  principal: Principal;
  /** Unix time in milliseconds. */
  validUntil: number;
}

/** Principals by the hash of their tokens; never more than 10,000, of which the oldest go first. */
export class TokenCache {
  readonly #known = new Map<string, Known>();
  #keys: KeySet | undefined;

  /** The principal of a token that was found to hold by these keys and has not expired since. */
  get(token: string, keys: KeySet, now: number): Principal | undefined {
    if (keys !== this.#keys) this.#startAnew(keys);
    const known = this.#known.get(nameOf(token));
    return known !== undefined && now < known.validUntil ? known.principal : undefined;
  }

  set(token: string, keys: KeySet, known: Known): void {
    if (keys !== this.#keys) this.#startAnew(keys);
    const name = nameOf(token);
    this.#known.delete(name);
    this.#known.set(name, known);
    if (this.#known.size <= maxTokens) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }

  /** A key may be missing now with which some of them were signed. */
  #startAnew(keys: KeySet): void {
    this.#known.clear();
    this.#keys = keys;
  }
}

function nameOf(token: string): string {
  return hash("sha256", token, "base64url");
}
