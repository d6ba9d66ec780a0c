/** The principal of a verified token. */
import { isStorable } from "../../store/port/stored.ts";
import { claimAt, type Principal, parseScopes } from "../principal.ts";
import { invalidToken } from "../refusals.ts";
import type { ClaimNames } from "../settings.ts";

type Claims = Readonly<Record<string, unknown>>;

/** Reads the principal from the claims of a token. Throws INVALID_TOKEN if there is no valid subject. */
export function toPrincipal(claims: Claims, names: ClaimNames): Principal {
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
function scopesOf(claims: Claims, named: string | undefined): Principal["scopes"] {
  const scopes = parseScopes(textsOf(claimAt(claims, named ?? "scope")));
  return named === undefined && scopes.length === 0 ? undefined : scopes;
}

/** The texts in an array, or in one text with spaces. Any other value has no texts. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter((text) => text !== "");
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
