/** Who asks: what a credential says of its holder. */

/** What a scope lets its holder do in one collection: read, or write, which takes no reading with it. */
export interface Scope {
  collection: string;
  action: "read" | "write";
}

/** Somebody who has shown a credential that holds. */
export interface Principal {
  /** Names them, the same at every request: in rules, in the change log, and beside their Idempotency-Keys. */
  subject: string;
  roles: readonly string[];
  /** What else the credential says of them; empty for an API key. */
  claims: Readonly<Record<string, unknown>>;
  /** What the credential is narrowed to; `undefined` where it is not narrowed. */
  scopes: readonly Scope[] | undefined;
}
