/** Decides whether a resource can be erased, and removes its traces, in the same way for all stores. */

import type { Erased } from "../../port/change-log.ts";
import { ask, type Plan } from "../../sql/plans.ts";
import type { NumberedCollection } from "../catalogue.ts";
import type { LogPlans } from "../log-plans.ts";
import type { ReceiptPlans } from "../receipt-plans.ts";
import { erasedName } from "./deleted.ts";
import { type Accepted, affectedBy, judge, type Verdict } from "./judge.ts";
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
): Plan<Verdict | undefined> {
  const state = yield* ask(judging.lookups.resource(collection, id));
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

/** The parts of a store that an erasure changes besides the resource. */
export interface TracesParts {
  logs: LogPlans;
  receipts: ReceiptPlans;
  isLogged: boolean;
  /** Adds to the sequence of a collection, and returns it. */
  raiseSequence(number: number, by: number): number | Plan<number>;
}

/**
 * Removes a resource from the change log, from the receipts and from the table of deleted ids, which keeps the hash of its id. The
 * changes of `verdict` must already be written. This must be the last step of the transaction.
 */
export function* removeTraces(
  { logs, receipts, isLogged, raiseSequence }: TracesParts,
  { collection: { number }, id }: { collection: NumberedCollection; id: string },
  verdict: Accepted | undefined,
): Plan<Erased> {
  const logged = yield* logs.erase(number, id);
  if (verdict !== undefined || logged > 0) {
    const by = verdict === undefined ? 1 : 0; // subscribers must notice the erasure
    const raised = raiseSequence(number, by);
    yield* logs.noteGaps(number, typeof raised === "number" ? raised : yield* raised);
  }
  const isKnown = yield* logs.renameDeleted(number, id, erasedName(id));
  yield* receipts.erase(id);
  if (verdict === undefined) return { isKnown, resource: false, changes: logged, affected: [] };
  // The log also had the delete itself.
  return { isKnown, resource: true, changes: isLogged ? logged - 1 : logged, affected: affectedBy(verdict) };
}

function* nameReferrers(
  judging: Judging,
  { collection, id }: { collection: NumberedCollection; id: string },
  refusal: Refusal,
): Plan<Refusal> {
  const names = new Set<string>();
  for (const referrer of judging.catalogue().referrersTo(collection.name)) {
    if (referrer.reference.onDelete !== "restrict") continue;
    const query = { ids: [id], known: new Set<string>(), limit: named };
    for (const found of yield* judging.lookups.referrers(referrer, query))
      names.add(`${referrer.from.name}/${found.id}`);
  }
  if (names.size === 0) return refusal;
  const some = [...names].slice(0, named.resources).join(", ");
  return { ...refusal, detail: `${refusal.detail} Among them: ${some}.` };
}
