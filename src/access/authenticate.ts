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

/** Checks sessions of users. */
export interface Sessions {
  /** Whether a text looks like a session. */
  isSession(text: string): boolean;
  /** Throws INVALID_TOKEN, and the errors of the store. */
  principalOf(text: string): Principal | Promise<Principal>;
  /**
   * Whether a subject is the id of an account, or of one that was deleted. An account that is new can be unknown for less than a second.
   */
  isUser(subject: string): boolean | Promise<boolean>;
}

/** A further kind of credential, of a capability. */
export interface Authenticator {
  /** Whether a text is such a credential. */
  takes(token: string): boolean;
  /** The principal of a credential that it has checked already; `undefined` for any other text. */
  known(token: string): Principal | undefined;
  /** Throws INVALID_TOKEN, and UNAVAILABLE if it cannot check the credential now. */
  principalOf(token: string): Promise<Principal>;
  /** Whether its credentials can have the id of an account as their subject, and then act as that user. */
  readonly actsAsUsers: boolean;
}

/** What authentication depends on. */
export interface AuthParts {
  settings: AuthSettings;
  keys: Keys;
  /** Further kinds of credentials. The first one that takes a text decides about it. */
  others: readonly Authenticator[];
  /** Checks sessions of users; absent without `auth.users`. */
  sessions?: Sessions | undefined;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
}

/** Finds out who sends a request, with the credentials that the service accepts. */
export function createAuthenticate({
  settings,
  keys,
  others,
  sessions,
  now,
  elapsed,
}: AuthParts): Authenticate {
  const ring = settings.keys ? new CredentialRing(keyCredentials(keys), { now, elapsed }) : undefined;
  const further = others.map((each) => {
    const refuse = each.actsAsUsers || sessions === undefined ? asItIs : refuserOf(sessions, "token");
    return { each, refuse };
  });
  const refuseKey = sessions === undefined ? asItIs : refuserOf(sessions, "API key");
  return ({ authorization }) => {
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    if (token.startsWith(keyMark) && ring !== undefined) {
      const found = ring.principalOf(token);
      return found instanceof Promise ? found.then(refuseKey) : refuseKey(found);
    }
    if (sessions?.isSession(token) === true) return sessions.principalOf(token);
    const other = further.find(({ each }) => each.takes(token));
    const known = other?.each.known(token);
    if (known !== undefined) return other?.refuse(known);
    requireTokenShape(token);
    if (token.startsWith(keyMark) || other === undefined) {
      throw invalidToken("The service does not accept this kind of credential.");
    }
    return other.each.principalOf(token).then(other.refuse);
  };
}

const asItIs = (principal: Principal): Principal => principal;

/**
 * Refuses credentials whose subject is the id of an account. These ids are public: an issuer can let people choose a subject, and an
 * administrator the subject of a key. The keys of a person are in the sessions of that person.
 */
function refuserOf(
  sessions: Sessions,
  credential: string,
): (principal: Principal) => Principal | Promise<Principal> {
  return (principal) => {
    const judge = (isUser: boolean): Principal => {
      if (!isUser) return principal;
      throw invalidToken(`The subject of the ${credential} is the id of a user of this service.`);
    };
    const found = sessions.isUser(principal.subject);
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

/** Known tokens do not need this check. */
function requireTokenShape(token: string): void {
  if (tokenShape.test(token)) return;
  throw unauthenticated("The text after Bearer in the Authorization header is not a valid token.");
}
