/** The settings of authentication. */
import type { AdministratorRule } from "./administrators.ts";
import type { Algorithm } from "./jwt/key-set.ts";

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
