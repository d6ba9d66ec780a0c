/** What a token says of its holder, once it is known to be sound. */
import type { Principal } from "../principal.ts";
import { invalidToken } from "../refusals.ts";
import { parseScopes } from "../scopes.ts";
import type { ClaimNames } from "../settings.ts";

type Claims = Readonly<Record<string, unknown>>;

/** The principal of a token. Throws INVALID_TOKEN where it does not say whose it is. */
export function toPrincipal(claims: Claims, names: ClaimNames): Principal {
  const subject = claimOf(claims, names.subject);
  if (typeof subject !== "string" || subject === "" || !isKeepable(subject)) {
    throw invalidToken("The token has no valid sub claim.");
  }
  return {
    subject,
    roles: textsOf(claimOf(claims, names.roles)),
    claims: names.tenant === undefined ? claims : { ...claims, tenant: claimOf(claims, names.tenant) },
    scopes: scopesOf(claims, names.scope),
  };
}

/** Tokens of most issuers carry scopes that are none of ours, such as `openid`; those alone narrow nothing unless the claim is named. */
function scopesOf(claims: Claims, named: string | undefined): Principal["scopes"] {
  const scopes = parseScopes(textsOf(claimOf(claims, named ?? "scope")));
  return named === undefined && scopes.length === 0 ? undefined : scopes;
}

/** A claim by its name, which may hold dots itself (`https://example.org/roles`), or by names with dots between. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** A list of texts, or one text with spaces between; anything else is nobody's role. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter((text) => text !== "");
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Whether every store can keep it in its change log. */
function isKeepable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
