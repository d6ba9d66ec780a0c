/** Decides whether an order of all operations explains their outcomes and the change log. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { KeptReceipt } from "../../../../src/store/port/commit.ts";
import { logStart, toNumber } from "../../../../src/store/port/log-place.ts";
import type { CollectionRecord } from "../../../../src/store/port/record.ts";
import type { Store } from "../../../../src/store/port/store.ts";
import { findOrder, type Machine } from "../../../linearizability/search.ts";
import { absorb, isNext, type Logged } from "./absorb.ts";
import type { Call, Note, Outcome, Recorded } from "./clients.ts";
import { judge, nameOf, refusal, type State } from "./model.ts";
import { receiptKeys } from "./plans.ts";

/** The change log and the receipts of an idle store. */
export interface Evidence {
  /** Collection by collection. */
  log: readonly Logged[];
  /** The receipts that were valid at `now`. */
  receipts: readonly KeptReceipt[];
  now: number;
}

/** Creates a record of a history in this process. */
export function createRecord(): { history: Recorded[]; note: Note } {
  const history: Recorded[] = [];
  let moment = 0;
  const note = (call: Call) => {
    const recorded: Recorded = {
      call,
      outcome: { kind: "unknown" },
      calledAt: ++moment,
      answeredAt: Number.POSITIVE_INFINITY,
    };
    history.push(recorded);
    return (outcome: Outcome) => {
      recorded.outcome = outcome;
      if (outcome.kind !== "unknown") recorded.answeredAt = ++moment;
    };
  };
  return { history, note };
}

/** Reads the whole change log and the receipts. */
export async function evidenceOf(
  store: Store,
  records: readonly CollectionRecord[],
  now: number,
): Promise<Evidence> {
  const log: Logged[] = [];
  for (const { name: collection } of records) {
    for (let after = logStart; ; ) {
      const { changes } = await store.changesAfter(collection, after, 1_000);
      log.push(...changes.map((row) => ({ ...row, collection })));
      if (changes.length === 0) break;
      after = changes.at(-1)?.sequence ?? logStart;
    }
  }
  const receipts = await Promise.all(receiptKeys.map((key) => store.receipt(key, now)));
  return { log, receipts: receipts.filter((receipt) => receipt !== undefined), now };
}

/** The state after a history. Throws an AssertionError if no order explains the outcomes and the log. */
export function requireOrder(
  records: readonly CollectionRecord[],
  history: readonly Recorded[],
  { initial, evidence }: { initial: State; evidence: Evidence },
): State {
  const rowsOf = Map.groupBy(evidence.log, ({ principal }) => principal);
  const shown = summaryOf(evidence);
  let why = "";
  const perform = (state: State, recorded: Recorded) => {
    try {
      return performOn(records, state, recorded, rowsOf);
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      why = error.message;
      return undefined;
    }
  };
  const machine: Machine<State, Recorded> = {
    initial,
    apply: perform,
    // The log has the result of each commit, so the set of finished operations identifies the state.
    nameOf: () => "",
    mayEnd: (state) => isDeepStrictEqual(expectedOf(state, evidence.now), shown),
  };
  const { isWhole, order, end } = findOrder(history, machine);
  if (isWhole) return end;
  const rest = history.filter((recorded) => !order.includes(recorded));
  if (rest.length === 0) assert.deepEqual(shown, expectedOf(end, evidence.now));
  const reasons = rest.slice(0, 20).map((recorded) => {
    why = "does not fit here";
    perform(end, recorded);
    return `${show(recorded)}\n    ${why}`;
  });
  assert.fail(`After ${order.length} operations nothing explains the others:\n${reasons.join("\n")}`);
}

/** The parts of the evidence that the final state must agree with. */
interface Summary {
  /** By collection. */
  sequences: ReadonlyMap<string, number>;
  /** By key. */
  receipts: ReadonlyMap<string, KeptReceipt>;
}

function summaryOf({ log, receipts }: Evidence): Summary {
  return {
    sequences: new Map(log.map(({ collection, sequence }) => [collection, toNumber(sequence)])),
    receipts: new Map(receipts.map((receipt) => [receipt.key, receipt])),
  };
}

function expectedOf({ sequences, receipts }: State, now: number): Summary {
  return { sequences, receipts: new Map([...receipts].filter(([, { expiresAt }]) => expiresAt > now)) };
}

function performOn(
  records: readonly CollectionRecord[],
  state: State,
  { call, outcome }: Recorded,
  rowsOf: ReadonlyMap<string | undefined, Logged[]>,
): State | undefined {
  if (call.kind !== "commit") {
    requireSeen(state, call, outcome);
    return state;
  }
  const { commit, mark } = call;
  const rows = rowsOf.get(mark) ?? [];
  if (outcome.kind === "refused") {
    assert.deepEqual(rows, [], "it was refused, and is in the log");
    requireRefused(records, state, call, outcome);
    return state;
  }
  const committed = outcome.kind === "committed" ? outcome.committed : undefined;
  const happened = { commit, rows, committed };
  if (rows.length === 0 && commit.changes.length > 0) {
    assert.equal(outcome.kind, "unknown", "it was acknowledged, and is not in the log");
    return undefined;
  }
  return isNext(state, happened) ? absorb(records, state, happened) : undefined;
}

function requireRefused(
  records: readonly CollectionRecord[],
  state: State,
  { commit }: Call & { kind: "commit" },
  { code, pointer }: Outcome & { kind: "refused" },
): void {
  const verdict = judge(records, state, commit);
  assert.ok("refusals" in verdict, `it should not be refused, and is: ${code}`);
  const given = refusal(code, pointer);
  assert.ok(
    verdict.refusals.has(given),
    `is refused as ${given}, should be as ${[...verdict.refusals].join(" or ")}`,
  );
}

/** Requires that a client saw the state. */
function requireSeen(state: State, call: Exclude<Call, { kind: "commit" }>, outcome: Outcome): void {
  if (outcome.kind === "unknown") return;
  if (call.kind === "read" && outcome.kind === "read") {
    assert.deepEqual(outcome.stored, toStored(state, nameOf(call.key)), `of ${nameOf(call.key)}`);
    return;
  }
  if (call.kind === "receipt" && outcome.kind === "receipt") {
    const receipt = state.receipts.get(call.key);
    const isValid = receipt !== undefined && receipt.expiresAt > call.now;
    assert.deepEqual(outcome.receipt, isValid ? receipt : undefined);
    return;
  }
  assert.ok(call.kind === "list" && outcome.kind === "listed");
  const { page } = outcome;
  assert.deepEqual(
    [page.sequence, page.items],
    [state.sequences.get(call.collection) ?? 0, allIn(state, call.collection)],
  );
  assert.deepEqual([page.total, page.more], [page.items.length, false]);
}

/** One resource in the form that a store returns. */
export function toStored({ resources }: State, name: string) {
  const kept = resources.get(name);
  if (kept === undefined) return undefined;
  const { key, version, text, updatedAt } = kept;
  return { id: key.id, version, text, updatedAt };
}

/** All resources of a collection, in order. */
export function allIn(state: State, collection: string) {
  const names = [...state.resources.values()]
    .filter(({ key }) => key.collection === collection)
    .map(({ key }) => key);
  const ordered = names.toSorted((one, other) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)));
  return ordered.map((key) => toStored(state, nameOf(key)));
}

function show({ call, outcome, calledAt, answeredAt }: Recorded): string {
  return `${calledAt}-${answeredAt} ${JSON.stringify(call)} -> ${JSON.stringify(outcome)}`;
}
