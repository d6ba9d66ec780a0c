/** Finds the principal of a request from its Authorization header. It reads no other part of the request (RFC 9700 §4.3.2). */
import type { IncomingHttpHeaders } from "node:http";
import type { Keys } from "../store/port/keys.ts";
import { keyMark } from "./api-key.ts";
import { invalidToken, unauthenticated } from "./challenges.ts";
import { CredentialRing } from "./credential-ring.ts";
import { keyCredentials } from "./key-credentials.ts";
import type { Principal } from "./principal.ts";
import type { AdministratorRule } from "./roles.ts";

/**
 * Returns the principal of a request's credential; `undefined` without a credential. Throws UNAUTHENTICATED if the
 * credential is malformed, INVALID_TOKEN if it is not valid, and UNAVAILABLE if the service cannot check it now.
 */
export type Authenticate = (headers: IncomingHttpHeaders) => Principal | undefined | Promise<Principal>;

/** The credentials of the core, and what callers with them can do. */
export interface AuthSettings {
  /** Whether the service accepts API keys. */
  keys: boolean;
  /** The administrators of the service over HTTP: callers that match one of these rules. @default [] */
  administrators?: readonly AdministratorRule[];
  /** The roles that administrators can give to keys over HTTP. @default the roles in the rules of collections */
  keyRoles?: readonly string[];
}

/** The parts of a request that can identify its caller. */
export interface IdentifyingRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/** A further kind of credential beside API keys. */
export interface Authenticator {
  /** Whether a text is such a credential. */
  takes(token: string): boolean;
  /** The principal of a credential that it has checked already; `undefined` for any other text. */
  known?(token: string): Principal | undefined;
  /** Throws INVALID_TOKEN, UNAVAILABLE if it cannot check the credential now, and the errors of the store. */
  principalOf(token: string): Principal | Promise<Principal>;
  /** Whether its credentials can have a subject that belongs to another kind of credential (`owns`). @default false */
  readonly actsAsOthers?: boolean;
  /**
   * Whether a subject belongs to this kind, so that others are refused with it. A subject that is new can be unknown for less than a second.
   * @default it owns none
   */
  owns?(subject: string): boolean | Promise<boolean>;
  /**
   * The caller of a request whose credential is in a cookie. `undefined`: the request has no such cookie. A promise of `undefined`: the cookie
   * counts as no credential. Throws CROSS_SITE.
   */
  identify?(request: IdentifyingRequest): Promise<Principal | undefined> | undefined;
  /** Throws SECOND_FACTOR_REQUIRED for a caller who must set up something first. */
  requireReady?(principal: Principal): Promise<void>;
  /** A principal as it is now, with the roles that it still has. Throws INSUFFICIENT_SCOPE if its credential or account has ended. */
  principalNow?(principal: Principal): Promise<Principal>;
}

/** What authentication depends on. */
export interface AuthParts {
  settings: AuthSettings;
  keys: Keys;
  /** Further kinds of credentials. The first one that takes a text decides about it. */
  others: readonly Authenticator[];
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
}

/** Finds out who sends a request, with the credentials that the service accepts. */
export function createAuthenticate({ settings, keys, others, now, elapsed }: AuthParts): Authenticate {
  const ring = settings.keys ? new CredentialRing(keyCredentials(keys), { now, elapsed }) : undefined;
  const owner = others.find(({ owns }) => owns !== undefined);
  const further = others.map((each) => {
    const isOwn = each === owner || each.actsAsOthers === true;
    return { each, refuse: isOwn ? asItIs : refuserOf(owner, "token") };
  });
  const refuseKey = refuserOf(owner, "API key");
  return ({ authorization }) => {
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    if (token.startsWith(keyMark) && ring !== undefined) {
      const found = ring.principalOf(token);
      return found instanceof Promise ? found.then(refuseKey) : refuseKey(found);
    }
    const other = further.find(({ each }) => each.takes(token));
    const known = other?.each.known?.(token);
    if (known !== undefined) return other?.refuse(known);
    // A kind without a memory (`known`) checks the form of its credentials itself.
    if (other === undefined || other.each.known !== undefined) requireTokenShape(token);
    if (token.startsWith(keyMark) || other === undefined) {
      throw invalidToken("The service does not accept this kind of credential.");
    }
    const found = other.each.principalOf(token);
    return found instanceof Promise ? found.then(other.refuse) : other.refuse(found);
  };
}

const asItIs = (principal: Principal): Principal => principal;

/**
 * Refuses credentials whose subject belongs to another kind, such as the id of an account. These ids are public: an issuer can let people
 * choose a subject, and an administrator the subject of a key. The keys of a person are in the sessions of that person.
 */
function refuserOf(
  owner: Authenticator | undefined,
  credential: string,
): (principal: Principal) => Principal | Promise<Principal> {
  if (owner === undefined) return asItIs;
  return (principal) => {
    const judge = (isOwned: boolean | undefined): Principal => {
      if (isOwned !== true) return principal;
      throw invalidToken(`The subject of the ${credential} is the id of a user of this service.`);
    };
    const found = owner.owns?.(principal.subject);
    return found instanceof Promise ? found.then(judge) : judge(found);
  };
}

const maxTokenLength = 16_384;

/** Most clients send exactly this. It needs no regular expression. */
const usualScheme = "Bearer ";
const bearerScheme = /^bearer(?: +|$)/i;
const tokenShape = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * The token in an Authorization header (RFC 6750 §2.1); `undefined` without the header, or with another scheme. Throws
 * UNAUTHENTICATED if the token is too long.
 */
function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const isUsual = authorization.startsWith(usualScheme) && authorization[usualScheme.length] !== " ";
  const length = isUsual ? usualScheme.length : bearerScheme.exec(authorization)?.[0].length;
  if (length === undefined) return undefined;
  const token = authorization.slice(length);
  if (token.length > maxTokenLength)
    throw unauthenticated(`The token is longer than the limit of ${maxTokenLength} bytes.`);
  return token;
}

/** Throws UNAUTHENTICATED for a text that no credential can be, before the store is asked. */
function requireTokenShape(token: string): void {
  if (tokenShape.test(token)) return;
  throw unauthenticated("The text after Bearer in the Authorization header is not a valid token.");
}
