/** Erases resources with their traces, in the same way for all stores. */
import type { Erased } from "../../port/change-log.ts";
import { ask, type Plan } from "../../sql/plans.ts";
import type { NumberedCollection } from "../catalogue.ts";
import { erasedName, type LogPlans } from "../log-plans.ts";
import { affectedBy, judge, type Verdict } from "./judge.ts";
import type { Refusal } from "./refusals.ts";
import type { Judging, WriteParts } from "./resolved-commit.ts";
import type { StagedChanges } from "./staged-changes.ts";

/** The refusal names some of the resources whose references keep the resource. */
const named = { resources: 5, text: 1024 * 1024 };

/**
 * Stages the delete of a resource and the changes that follow from it. Returns `undefined` if the resource does not
 * exist. A damaged resource can be erased too.
 */
function* judgeErasure(
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

/**
 * Erases a resource: deletes it, and removes it from the change log, from the receipts and from the table of deleted ids, which keeps
 * the hash of its id. This must be the last step of the transaction.
 */
export function* erase<C extends NumberedCollection>(
  parts: WriteParts<C> & { logs: LogPlans },
  judging: Judging & { staged: StagedChanges<C> },
  erasing: { collection: C; id: string },
): Plan<Erased | { refusal: Refusal }> {
  const { logs, receipts, isLogged } = parts;
  const { collection, id } = erasing;
  const { number } = collection;
  const verdict = yield* judgeErasure(judging, erasing);
  if (verdict !== undefined && "refusal" in verdict) return verdict;
  yield* parts.write(judging.staged);
  const logged = yield* logs.erase(number, id);
  if (verdict !== undefined || logged > 0) {
    const by = verdict === undefined ? 1 : 0; // subscribers must notice the erasure
    yield* parts.noteErasure(collection, by);
  }
  const isKnown = yield* logs.renameDeleted(collection, id, erasedName(id));
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
