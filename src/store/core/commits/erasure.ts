/** Decides whether a resource can be erased, in the same way for all stores. */

import type { Erased } from "../../port/change-log.ts";
import type { NumberedCollection } from "../catalogue.ts";
import { lookUp } from "../decision.ts";
import { type Accepted, affectedBy, judge, type Verdict } from "./judge.ts";
import type { WriteDecision } from "./lookups.ts";
import type { Refusal } from "./refusals.ts";
import type { Judging } from "./resolved-commit.ts";

/** The refusal names some of the resources whose references keep the resource. */
const named = { resources: 5, text: 1024 * 1024 };

/**
 * Stages the delete of a resource and the changes that follow from it. Returns `undefined` if the resource does not
 * exist. A damaged resource can be erased too.
 */
export function* judgeErasure(
  judging: Judging,
  { collection, id }: { collection: NumberedCollection; id: string },
): WriteDecision<Verdict | undefined> {
  const state = yield* lookUp((store) => store.resource(collection, id));
  if (state === undefined) return undefined;
  judging.staged.note(collection, id, state);
  const change = { collection, id, expect: state.version, next: undefined };
  const commit = {
    changes: [change],
    at: Date.now(),
    principal: null,
    receipt: undefined,
    mayBeDamaged: true,
  };
  const verdict = yield* judge(judging, commit);
  if (!("refusal" in verdict) || verdict.refusal.code !== "REFERENCED") return verdict;
  return { refusal: yield* nameReferrers(judging, change, verdict.refusal) };
}

/**
 * The report of an erasure that was not refused. It removed `logged` changes from the change log. `isKnown` says whether it
 * replaced the id by its hash.
 */
export function erasedOf(
  verdict: Accepted | undefined,
  { logged, isLogged, isKnown }: { logged: number; isLogged: boolean; isKnown: boolean },
): Erased {
  if (verdict === undefined) return { isKnown, resource: false, changes: logged, affected: [] };
  // The log also had the delete itself.
  return { isKnown, resource: true, changes: isLogged ? logged - 1 : logged, affected: affectedBy(verdict) };
}

function* nameReferrers(
  judging: Judging,
  { collection, id }: { collection: NumberedCollection; id: string },
  refusal: Refusal,
): WriteDecision<Refusal> {
  const names = new Set<string>();
  for (const referrer of judging.catalogue().referrersTo(collection.name)) {
    if (referrer.reference.onDelete !== "restrict") continue;
    const query = { referrer, ids: [id], known: new Set<string>(), limit: named };
    for (const found of yield* lookUp((store) => store.referrers(query)))
      names.add(`${referrer.from.name}/${found.id}`);
  }
  if (names.size === 0) return refusal;
  const some = [...names].slice(0, named.resources).join(", ");
  return { ...refusal, detail: `${refusal.detail} Among them: ${some}.` };
}
