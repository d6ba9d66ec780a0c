/** What one caller may do in one collection. */
import { matches } from "../query/matches.ts";
import { type Action, scopeOf } from "./actions.ts";
import type { Principal } from "./principal.ts";
import { both, type Decision, type Rules } from "./rules.ts";

/** A caller's place in a collection. */
export interface Permit {
  /** Which resources the action may be done with, by the rules and the scopes of the credential. */
  may(action: Action): Decision;
  /** Which resources there are for the caller, whatever the scopes: all others are not there. */
  visible(): Decision;
}

/** The permit of a caller, `undefined` being somebody without a credential. */
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

/** Lists leave out what could not be read. */
function ruleOf(rules: Rules, action: Action, principal: Principal | undefined): Decision {
  const decision = rules[action](principal);
  return action === "list" && rules.list !== rules.read ? both(decision, rules.read(principal)) : decision;
}

/** Scopes only narrow: without any, the rules alone decide. */
function isInScope(principal: Principal | undefined, collection: string, action: Action): boolean {
  if (principal?.scopes === undefined) return true;
  const needed = scopeOf(action);
  return principal.scopes.some((scope) => scope.collection === collection && scope.action === needed);
}

/** Whether a decision includes a resource, given as its JSON text. */
export function includes(decision: Decision, text: string): boolean {
  if (typeof decision === "string") return decision === "everything";
  return matches(decision, JSON.parse(text) as Record<string, unknown>);
}
