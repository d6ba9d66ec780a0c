/**
 * Finds the principals of tokens of one issuer. It reads the keys of the issuer and verifies each token only once.
 * `verify.ts` verifies it.
 */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { invalidToken } from "../../access/challenges.ts";
import { claimAt, type Principal, parseScopes } from "../../access/principal.ts";
import { type Problem, StartError } from "../../errors.ts";
import { isStorable } from "../../store/port/stored.ts";
import { holdsSecrets, type KeySet, readKeySet } from "./key-set.ts";
import { KeySource, readKeys } from "./key-source.ts";
import type { ClaimNames, JwtSettings } from "./settings.ts";
import { clockToleranceSeconds, verifyToken } from "./verify.ts";

/** What tokens depend on. */
export interface TokenParts {
  settings: JwtSettings;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
  warn: (message: string) => void;
}

/** The tokens of one issuer. */
export class Tokens {
  readonly #settings: JwtSettings;
  readonly #now: () => number;
  readonly #source: KeySource;
  readonly #cache = new TokenCache();

  /** Reads the keys. Throws StartError if they cannot be read. Keys at a URL may become available later. */
  static async open(parts: TokenParts): Promise<Tokens> {
    const { jwks } = parts.settings;
    let isOpen = jwks.kind === "url"; // the StartError contains the reason, so the log does not need it
    const warn = (message: string) => isOpen && parts.warn(message);
    const tokens = new Tokens({ ...parts, warn });
    if (jwks.kind === "url") {
      tokens.#source.renewed().catch(() => {}); // the log has the reason
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

  /** The principal of a token that was verified before and is still valid; otherwise `undefined`. */
  known(token: string): Principal | undefined {
    const keys = this.#source.atHand();
    return keys === undefined ? undefined : this.#cache.get(token, keys, this.#now());
  }

  /** The principal of a token. Throws INVALID_TOKEN, and UNAVAILABLE if there are no keys. */
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
    // The keys may have changed during the verification.
    if (keys === this.#source.atHand()) this.#cache.set(token, keys, { principal, validUntil });
    return principal;
  }
}

/** Reads the principal from the claims of a token. Throws INVALID_TOKEN if there is no valid subject. */
function toPrincipal(claims: Principal["claims"], names: ClaimNames): Principal {
  const subject = claimAt(claims, names.subject);
  if (typeof subject !== "string" || subject === "" || !isStorable(subject)) {
    throw invalidToken("The token has no valid sub claim.");
  }
  return {
    subject,
    roles: textsOf(claimAt(claims, names.roles)),
    claims: names.tenant === undefined ? claims : { ...claims, tenant: claimAt(claims, names.tenant) },
    scopes: scopesOf(claims, names.scope),
  };
}

/** Most issuers add scopes of their own, such as `openid`. They limit a token only if the configuration names the claim. */
function scopesOf(claims: Principal["claims"], named: string | undefined): Principal["scopes"] {
  const scopes = parseScopes(textsOf(claimAt(claims, named ?? "scope")));
  return named === undefined && scopes.length === 0 ? undefined : scopes;
}

/** The texts in an array, or in one text with spaces. Any other value has no texts. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter((text) => text !== "");
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Reads a key set. A secret key is an error only in the configuration or a file, because the operator can remove it there. */
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

interface KnownToken {
  principal: Principal;
  /** Unix time in milliseconds. */
  validUntil: number;
}

/**
 * The principals of verified tokens, by the hash of the token. It has at most 10,000 tokens, with 8 Mi characters together, because
 * a principal holds the claims of its token. The oldest token is removed first.
 */
export class TokenCache {
  readonly #known = new LRUCache<string, KnownToken>({ max: 10_000, maxSize: 8 * 1024 * 1024 });
  #keys: KeySet | undefined;

  /** The principal of a token that was verified with these keys and has not expired. */
  get(token: string, keys: KeySet, now: number): Principal | undefined {
    this.#use(keys);
    const known = this.#known.peek(nameOf(token));
    return known !== undefined && now < known.validUntil ? known.principal : undefined;
  }

  set(token: string, keys: KeySet, known: KnownToken): void {
    this.#use(keys);
    this.#known.set(nameOf(token), known, { size: token.length });
  }

  /** New keys may not include the key of a token in the cache. */
  #use(keys: KeySet): void {
    if (keys !== this.#keys) this.#known.clear();
    this.#keys = keys;
  }
}

function nameOf(token: string): string {
  return hash("sha256", token, "base64url");
}
