/**
 * The actions, and the access rules as a configuration declares them: their types, and the helper `owner`. `rules.ts` checks and
 * compiles them.
 */
import type { CollectionDeclaration } from "../collection/declaration.ts";

/** All actions. */
export const actions = ["list", "read", "create", "update", "delete"] as const;

/** An action. PUT, PATCH and the restore of an earlier version are updates. */
export type Action = (typeof actions)[number];

/** Names for several actions at once. A rule for a single action takes precedence. */
export const shorthands = {
  read: ["list", "read"],
  write: ["create", "update", "delete"],
} as const satisfies Record<string, readonly Action[]>;

/** The scope that an action needs. */
export function scopeOf(action: Action): "read" | "write" {
  return action === "list" || action === "read" ? "read" : "write";
}

/** The callers that can do something, and with which resources. A rule with `role` and `where` needs both. */
export type Rule =
  /** Every caller, also without a credential. */
  | "public"
  /** Every caller with a valid credential. */
  | "authenticated"
  | "nobody"
  /** Every caller with the role. */
  | { readonly role: string; readonly where?: Where }
  /** Every caller, with the resources that match the filter. If the filter uses a claim that the caller does not have, nothing matches. */
  | { readonly where: Where };

/** A filter as in the body of a QUERY request. A value can be `"$subject"` or a claim of the caller, such as `"$claims.tenant"`. */
export type Where = Readonly<Record<string, unknown>>;

/** A rule for each action, or a list of rules of which one is enough. `read` includes `list`. `write` is create, update and delete. */
export type AccessDeclaration = {
  readonly [Name in Action | "write"]?: Rule | readonly Rule[];
};

/** The declaration of a collection with its rules. */
export interface GuardedDeclaration extends CollectionDeclaration {
  /** The rules. An action without a rule is forbidden. @default every caller with a valid credential can do everything */
  readonly access?: AccessDeclaration;
}

/** A rule for the owner of a resource: the caller whose subject is in this attribute. */
export function owner(attribute: string): { readonly where: Where } {
  return { where: { [attribute]: "$subject" } };
}

/** Refuses members of declared collections that `Declaration` does not have. Without it, an inferred type would accept any member. */
export type OnlyMembersOf<Declaration, C> = {
  readonly [Name in keyof C]: { readonly [Member in Exclude<keyof C[Name], keyof Declaration>]: never };
};
