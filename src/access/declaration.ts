/** How a configuration writes who may do what. */
import type { CollectionDeclaration } from "../collection/schema.ts";
import type { Action } from "./actions.ts";

/** Who may, and with which resources. Of a rule with role and where, both must hold. */
export type Rule =
  /** Anybody, without a credential too. */
  | "public"
  /** Whoever has shown a credential. */
  | "authenticated"
  | "nobody"
  /** Whoever has the role. */
  | { readonly role: string; readonly where?: Where }
  /** Anybody, with the resources that the filter is true of. Where it names what the caller lacks, with none. */
  | { readonly where: Where };

/** A filter as lists take it in JSON. A value may be `"$subject"` or a claim of the caller, such as `"$claims.tenant"`. */
export type Where = Readonly<Record<string, unknown>>;

/** A rule for each action; several suffice one by one. `read` is also for `list`, `write` for the other three. */
export type AccessDeclaration = {
  readonly [Name in Action | "write"]?: Rule | readonly Rule[];
};

/** What a configuration says about one collection. */
export interface GuardedDeclaration extends CollectionDeclaration {
  /** Who may do what; whoever is not named may not. @default whoever has shown a credential may do everything */
  readonly access?: AccessDeclaration;
}

/** The rule that a resource belongs to whom its attribute names. */
export function owner(attribute: string): { readonly where: Where } {
  return { where: { [attribute]: "$subject" } };
}
