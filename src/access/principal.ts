/**
 * The caller that a valid credential identifies, with its roles, claims and scopes. This file only reads scopes and claims:
 * `authenticate.ts` checks credentials, and `rules.ts` decides what a caller can do.
 */
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
  /** All claims of a token; empty for an API key. */
  claims: Readonly<Record<string, unknown>>;
  /** The permissions that limit the credential; `undefined` if it has no such limit. */
  scopes: readonly Scope[] | undefined;
  /** Whether it can do everything with every resource. No credential has this: only code of the operator acts so. @default false */
  mayDoEverything?: true;
  /** The prefix of the API key. Absent for other credentials. */
  key?: string;
  /**
   * The session of a user who has signed in, and when the user last proved who they are. Absent for other credentials.
   * `mustAddFactor`: it can do nothing before the user has set up a second factor. `keyUntil`: it is a key of the user, which ends at this
   * time (Unix time in milliseconds).
   */
  session?: {
    readonly id: string;
    readonly confirmedAt: number;
    readonly mustAddFactor?: boolean;
    readonly keyUntil?: number;
  };
}

const scopeShape = /^([^:\s]+):(read|write)$/;

/** Reads a scope such as `articles:read`; `undefined` if the text is not a scope. */
export function parseScope(text: string): Scope | undefined {
  const [, collection, action] = scopeShape.exec(text) ?? [];
  return collection === undefined ? undefined : { collection, action: action as Scope["action"] };
}

/** Reads scopes. Skips texts that are not scopes, because tokens also have scopes of the identity provider. */
export function parseScopes(texts: readonly string[]): Scope[] {
  return texts.map(parseScope).filter((scope) => scope !== undefined);
}

/**
 * The value of a claim; `undefined` if it does not exist. A claim with exactly this name comes first, because names can
 * contain dots (`https://example.org/roles`). Otherwise, a dotted name reaches into objects.
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
