/** API keys as credentials. */
import type { ApiKey, Keys } from "../store/port/keys.ts";
import { keyLength, prefixOf } from "./api-key.ts";
import { invalidToken } from "./challenges.ts";
import type { CredentialKind } from "./credential-ring.ts";
import { parseScopes } from "./principal.ts";

/** The API keys of a store as credentials. */
export function keyCredentials(keys: Keys): CredentialKind<ApiKey> {
  return {
    called: "API key",
    length: keyLength,
    nameOf: prefixOf,
    find: (prefix) => keys.find(prefix),
    hashOf: ({ hash }) => hash,
    principalOf: ({ prefix, subject, roles, scopes }) => ({
      subject,
      key: prefix,
      roles,
      claims: {},
      scopes: scopes === undefined ? undefined : parseScopes(scopes),
    }),
    usedAt: ({ lastUsedAt = 0 }) => lastUsedAt,
    requireValid: ({ expiresAt, revokedAt }, { now }) => {
      if (revokedAt !== undefined) throw invalidToken("The API key was revoked.");
      if (expiresAt !== undefined && expiresAt <= now) throw invalidToken("The API key has expired.");
    },
    useEveryMs: 3_600_000,
    noteUse: ({ prefix }, at) => keys.noteUse(prefix, at),
  };
}
