/** The caller that a valid credential identifies. */
import { isObject } from "../json/values.ts";

/** A permission for one collection. `write` does not include `read`. */
export interface Scope {
  collection: string;
  action: "read" | "write";
}

/** An authenticated caller. */
export interface Principal {
  /** Identifies the caller in rules, in the change log, and for the use of Idempotency-Keys. It never changes. */
  subject: string;
  roles: readonly string[];
  /** All claims of a token. An API key has none. */
  claims: Readonly<Record<string, unknown>>;
  /** The only permissions of the credential; `undefined` if it is not limited. */
  scopes: readonly Scope[] | undefined;
}

const scopeShape = /^([^:\s]+):(read|write)$/;

/** Reads a scope such as `articles:read`; `undefined` if the text is not a scope. */
export function parseScope(text: string): Scope | undefined {
  const [, collection, action] = scopeShape.exec(text) ?? [];
  return collection === undefined ? undefined : { collection, action: action as Scope["action"] };
}

/** The scopes among texts. It skips other texts, such as the scopes of the issuer itself. */
export function parseScopes(texts: readonly string[]): Scope[] {
  return texts.map(parseScope).filter((scope) => scope !== undefined);
}

/**
 * The value of a claim. The name can contain dots itself (`https://example.org/roles`). Otherwise, dots lead to a claim
 * inside an object.
 */
export function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}
