/** Finds the principal of a request from its Authorization header. It reads no other part of the request (RFC 9700 §4.3.2). */
import type { IncomingHttpHeaders } from "node:http";
import type { Keys } from "../store/port/keys.ts";
import { keyMark } from "./api-key.ts";
import { invalidToken, unauthenticated } from "./challenges.ts";
import { CredentialRing } from "./credential-ring.ts";
import type { Algorithm } from "./jwt/key-set.ts";
import { keyCredentials } from "./key-credentials.ts";
import type { Principal } from "./principal.ts";
import type { AdministratorRule } from "./roles.ts";

/**
 * Returns the principal of a request's credential; `undefined` without a credential. Throws UNAUTHENTICATED if the
 * credential is malformed, INVALID_TOKEN if it is not valid, and UNAVAILABLE if the service cannot check it now.
 */
export type Authenticate = (headers: IncomingHttpHeaders) => Principal | undefined | Promise<Principal>;

/** The credentials that the service accepts: API keys, tokens, or both. */
export interface AuthSettings {
  keys: boolean;
  jwt: JwtSettings | undefined;
  /** The administrators of the service over HTTP: callers that match one of these rules. @default [] */
  administrators?: readonly AdministratorRule[];
  /** The roles that administrators can give to keys over HTTP. @default the roles in the rules of collections */
  keyRoles?: readonly string[];
}

/** The issuer whose tokens the service accepts, and how it reads them. */
export interface JwtSettings {
  /** The required `iss`. */
  issuer: string;
  /** One of these must be in `aud`. */
  audience: readonly string[];
  jwks: JwksPlace;
  algorithms: readonly Algorithm[];
  /** Whether the header of a token must have the type `at+jwt` (RFC 9068). */
  onlyAccessTokens: boolean;
  /** Whether a token whose subject is the id of an account acts as that user. Otherwise it is refused. @default false */
  actAsUsers?: boolean;
  claims: ClaimNames;
}

/** The place of the issuer's public keys. */
export type JwksPlace =
  | { kind: "url"; url: string }
  | { kind: "file"; path: string }
  | { kind: "inline"; jwks: unknown };

/** The names of the claims. A dot leads to a claim inside an object. */
export interface ClaimNames {
  /** @default "sub" */
  subject: string;
  /** @default "roles" */
  roles: string;
  /** The claim that rules read as `$claims.tenant`. @default `tenant` */
  tenant: string | undefined;
  /** If this is set, the scopes in this claim limit every token. @default "scope", for tokens that have a scope of this service in it */
  scope: string | undefined;
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

/** What authentication depends on. */
export interface AuthParts {
  settings: AuthSettings;
  keys: Keys;
  /** Checks sessions of users; absent without `auth.users`. */
  sessions?: Sessions | undefined;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
  warn: (message: string) => void;
}

/** Opens the sources of credentials. Throws StartError if a source cannot be opened. */
export async function openAuthenticate({
  settings,
  keys,
  sessions,
  now,
  elapsed,
  warn,
}: AuthParts): Promise<Authenticate> {
  const ring = settings.keys ? new CredentialRing(keyCredentials(keys), { now, elapsed }) : undefined;
  const tokens =
    settings.jwt === undefined
      ? undefined
      : await (await import("./jwt/tokens.ts")).Tokens.open({ settings: settings.jwt, now, elapsed, warn });
  const refuseUser =
    settings.jwt?.actAsUsers === true || sessions === undefined ? asItIs : refuserOf(sessions, "token");
  const refuseKey = sessions === undefined ? asItIs : refuserOf(sessions, "API key");
  return ({ authorization }) => {
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    if (token.startsWith(keyMark) && ring !== undefined) {
      const found = ring.principalOf(token);
      return found instanceof Promise ? found.then(refuseKey) : refuseKey(found);
    }
    if (sessions?.isSession(token) === true) return sessions.principalOf(token);
    const known = tokens?.known(token);
    if (known !== undefined) return refuseUser(known);
    requireTokenShape(token);
    if (token.startsWith(keyMark) || tokens === undefined) {
      throw invalidToken("The service does not accept this kind of credential.");
    }
    return tokens.principalOf(token).then(refuseUser);
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

/** Throws StartError if a source of credentials that is a file or part of the configuration cannot be read. */
export async function requireSources({ jwt }: AuthSettings): Promise<void> {
  if (jwt === undefined || jwt.jwks.kind === "url") return;
  const { Tokens } = await import("./jwt/tokens.ts");
  await Tokens.open({ settings: jwt, now: Date.now, elapsed: () => 0, warn: () => {} });
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
