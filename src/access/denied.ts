/** How somebody is refused who may not do what they ask for (RFC 6750 §3). */
import { Problem } from "../errors.ts";
import { type Action, scopeOf } from "./actions.ts";
import type { Principal } from "./principal.ts";
import { unauthenticated } from "./refusals.ts";

/** What was asked for, where it is one thing. */
export interface Denied {
  collection: string;
  action: Action;
}

/**
 * The problem for a caller who may not do what they request. Without a credential, it asks for one. With one, it names the
 * scope that is needed beside the rules. `advice` is added at the end.
 */
export function denied(principal: Principal | undefined, what?: Denied, advice?: string): Problem {
  if (principal === undefined) return unauthenticated();
  const scope = what === undefined ? "" : `, scope="${what.collection}:${scopeOf(what.action)}"`;
  const headers = { "www-authenticate": `Bearer error="insufficient_scope"${scope}` };
  const detail = advice === undefined ? detailOf(what) : `${detailOf(what)} ${advice}`;
  return new Problem("INSUFFICIENT_SCOPE", detail, { headers });
}

function detailOf(what: Denied | undefined): string {
  if (what === undefined) return "The credential does not permit any writes.";
  const { collection, action } = what;
  return `The credential does not permit the action "${action}" in the collection "${collection}".`;
}
