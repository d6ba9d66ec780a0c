/** Tokens of one issuer: whose they are. */
import { type Problem, StartError } from "../../errors.ts";
import type { Principal } from "../principal.ts";
import type { JwtSettings } from "../settings.ts";
import { toPrincipal } from "./claims.ts";
import { holdsSecrets, type KeySet, readKeySet } from "./key-set.ts";
import { KeySource } from "./key-source.ts";
import { readKeys } from "./read-keys.ts";
import { TokenCache } from "./token-cache.ts";
import { clockToleranceSeconds, verifyToken } from "./verify.ts";

/** What tokens depend on. */
export interface TokenParts {
  settings: JwtSettings;
  /** Unix time in milliseconds. */
  now: () => number;
  /** Milliseconds since some moment. */
  elapsed: () => number;
  warn: (message: string) => void;
}

/** The tokens that a service takes. */
export class Tokens {
  readonly #settings: JwtSettings;
  readonly #now: () => number;
  readonly #source: KeySource;
  readonly #cache = new TokenCache();

  /** Reads the keys. Throws StartError where that fails, unless they are elsewhere and may be reached later. */
  static async open(parts: TokenParts): Promise<Tokens> {
    const { jwks } = parts.settings;
    let isOpen = jwks.kind === "url"; // what keeps the service from starting is told once
    const warn = (message: string) => isOpen && parts.warn(message);
    const tokens = new Tokens({ ...parts, warn });
    if (jwks.kind === "url") {
      tokens.#source.renewed().catch(() => {}); // the log has been told
    } else {
      await tokens.#source.renewed().catch((problem: Problem) => {
        const reason = problem.cause instanceof Error ? problem.cause.message : problem.message;
        throw new StartError(`auth.jwt.jwks: ${reason}.`);
      });
    }
    isOpen = true;
    return tokens;
  }

  private constructor({ settings, now, elapsed, warn }: TokenParts) {
    this.#settings = settings;
    this.#now = now;
    this.#source = new KeySource({
      read: () => readKeys(settings.jwks),
      toKeySet: (text) => toKeySet(text, settings),
      elapsed: settings.jwks.kind === "inline" ? () => 0 : elapsed,
      warn: (reason) => warn(`the keys of ${settings.issuer} cannot be read: ${reason}`),
    });
  }

  /** Whose token it is, where that was found out before and still holds. */
  known(token: string): Principal | undefined {
    const keys = this.#source.atHand();
    return keys === undefined ? undefined : this.#cache.get(token, keys, this.#now());
  }

  /** Whose token it is. Throws INVALID_TOKEN, or UNAVAILABLE where no keys can be had. */
  async principalOf(token: string): Promise<Principal> {
    const keys = this.#source.atHand() ?? (await this.#source.renewed());
    const claims = await verifyToken(token, {
      settings: this.#settings,
      keys,
      renewed: () => this.#source.renewed(),
      now: this.#now(),
    });
    const principal = toPrincipal(claims, this.#settings.claims);
    const validUntil = (claims.exp + clockToleranceSeconds) * 1_000;
    // What was found by keys that are the issuer's no more is not kept.
    if (keys === this.#source.atHand()) this.#cache.set(token, keys, { principal, validUntil });
    return principal;
  }
}

/** What an issuer publishes is its own affair; a secret in a file of ours is a mistake to tell. */
function toKeySet(text: string, { jwks, algorithms }: JwtSettings): KeySet {
  const value = parse(text);
  if (jwks.kind !== "url" && holdsSecrets(value)) {
    throw new Error("it contains a secret key; keep only the public keys");
  }
  return readKeySet(value, algorithms);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
}
