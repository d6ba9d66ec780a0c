/** What one caller can do in one collection. */
import { isRelative, matches } from "../query/filter.ts";
import { type Action, scopeOf } from "./actions.ts";
import type { Principal } from "./principal.ts";
import { type AllowedResources, both, type Rules } from "./rules.ts";

/** The permissions of a caller in a collection. */
export interface Permit {
  /** The resources that the caller can do the action with. The rules and the scopes of the credential decide this. */
  may(action: Action): AllowedResources;
  /** The resources that exist for the caller. The rules decide this, without the scopes. */
  visible(): AllowedResources;
}

/** Creates a permit. A caller without a credential has no principal. */
export function createPermit(rules: Rules, collection: string, principal: Principal | undefined): Permit {
  const allowedByAction = new Map<Action, AllowedResources>();
  const allowedFor = (action: Action): AllowedResources => {
    const known = allowedByAction.get(action);
    if (known !== undefined) return known;
    const allowed = ruleOf(rules, action, principal);
    if (typeof allowed === "string" || !isRelative(allowed)) allowedByAction.set(action, allowed);
    return allowed;
  };
  return {
    may: (action) => (isInScope(principal, collection, action) ? allowedFor(action) : "nothing"),
    visible: () => allowedFor("read"),
  };
}

/** A list contains only resources that the caller can also read one by one. */
function ruleOf(rules: Rules, action: Action, principal: Principal | undefined): AllowedResources {
  const allowed = rules[action](principal);
  return action === "list" && rules.list !== rules.read ? both(allowed, rules.read(principal)) : allowed;
}

/** Whether the scopes of a credential include an action. Scopes never add a permission. Without scopes, only the rules decide. */
export function isInScope(principal: Principal | undefined, collection: string, action: Action): boolean {
  if (principal?.scopes === undefined) return true;
  const needed = scopeOf(action);
  return principal.scopes.some((scope) => scope.collection === collection && scope.action === needed);
}

/** Whether the allowed resources include the resource with this JSON text. */
export function includes(allowed: AllowedResources, text: string): boolean {
  if (typeof allowed === "string") return allowed === "everything";
  return matches(allowed, JSON.parse(text) as Record<string, unknown>);
}
