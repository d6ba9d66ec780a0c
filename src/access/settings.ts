/** What the configuration can say about who gets in. */
import type { Algorithm } from "./jwt/algorithms.ts";

/** Where credentials come from; at least one of the two. */
export interface AuthSettings {
  /** Whether API keys are taken. */
  keys: boolean;
  /** Whose tokens are taken. */
  jwt: JwtSettings | undefined;
}

/** Whose tokens are taken, and what is read of them. */
export interface JwtSettings {
  /** What `iss` must be. */
  issuer: string;
  /** What `aud` must be, or hold one of. */
  audience: readonly string[];
  jwks: JwksPlace;
  algorithms: readonly Algorithm[];
  /** Whether a token must say of itself that it is an access token (RFC 9068). */
  onlyAccessTokens: boolean;
  claims: ClaimNames;
}

/** Where the issuer's public keys are. */
export type JwksPlace =
  | { kind: "url"; url: string }
  | { kind: "file"; path: string }
  | { kind: "inline"; jwks: unknown };

/** The claims that something is read from: a name, or names with dots between for a claim within a claim. */
export interface ClaimNames {
  /** @default "sub" */
  subject: string;
  /** @default "roles" */
  roles: string;
  /** What `tenant` is among the claims of the principal. @default the token's own */
  tenant: string | undefined;
  /** Where it is named, every token is narrowed to the scopes in it. @default "scope", for tokens with scopes of ours in it */
  scope: string | undefined;
}
