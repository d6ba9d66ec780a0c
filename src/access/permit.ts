/** What one caller can do in one collection. */
import { matches } from "../query/filter.ts";
import { type Action, scopeOf } from "./actions.ts";
import type { Principal } from "./principal.ts";
import { both, type Decision, type Rules } from "./rules.ts";

/** The permissions of a caller in a collection. */
export interface Permit {
  /** The resources that the caller can do the action with. The rules and the scopes of the credential decide this. */
  may(action: Action): Decision;
  /** The resources that exist for the caller. The rules decide this, without the scopes. */
  visible(): Decision;
}

/** Creates a permit. A caller without a credential has no principal. */
export function createPermit(rules: Rules, collection: string, principal: Principal | undefined): Permit {
  const decided = new Map<Action, Decision>();
  const decide = (action: Action): Decision => {
    const known = decided.get(action);
    if (known !== undefined) return known;
    const decision = ruleOf(rules, action, principal);
    decided.set(action, decision);
    return decision;
  };
  return {
    may: (action) => (isInScope(principal, collection, action) ? decide(action) : "nothing"),
    visible: () => decide("read"),
  };
}

/** A list contains only resources that the caller can also read one by one. */
function ruleOf(rules: Rules, action: Action, principal: Principal | undefined): Decision {
  const decision = rules[action](principal);
  return action === "list" && rules.list !== rules.read ? both(decision, rules.read(principal)) : decision;
}

/** Scopes never add a permission. Without scopes, only the rules decide. */
function isInScope(principal: Principal | undefined, collection: string, action: Action): boolean {
  if (principal?.scopes === undefined) return true;
  const needed = scopeOf(action);
  return principal.scopes.some((scope) => scope.collection === collection && scope.action === needed);
}

/** Whether a decision includes the resource with this JSON text. */
export function includes(decision: Decision, text: string): boolean {
  if (typeof decision === "string") return decision === "everything";
  return matches(decision, JSON.parse(text) as Record<string, unknown>);
}
