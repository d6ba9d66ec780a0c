/** Computes the next state after a commit, and checks that the change log agrees with it. */
import assert from "node:assert/strict";
import type { LoggedChange } from "../../../../src/store/port/change-log.ts";
import type { Commit, Committed } from "../../../../src/store/port/commit.ts";
import { toNumber } from "../../../../src/store/port/log-place.ts";
import type { CollectionRecord } from "../../../../src/store/port/record.ts";
import { judge, type Kept, nameOf, type State } from "./model.ts";

/** A change of the log, with its collection. */
export type Logged = LoggedChange & { collection: string };

/** A commit that happened. */
export interface Happened {
  commit: Commit;
  /** Its changes in the log, in order. */
  rows: readonly Logged[];
  /** The response of the store; `undefined` if no client received it. */
  committed: Committed | undefined;
}

/** Whether the commit's changes are the next ones in the log. */
export function isNext({ sequences }: State, { rows }: Happened): boolean {
  const next = new Map(sequences);
  return rows.every(({ collection, sequence }) => {
    const expected = (next.get(collection) ?? 0) + 1;
    next.set(collection, expected);
    return toNumber(sequence) === expected;
  });
}

/** The state after the commit. Throws an AssertionError if the commit should have had another result. */
export function absorb(records: readonly CollectionRecord[], state: State, happened: Happened): State {
  const { commit, rows } = happened;
  const verdict = judge(records, state, commit);
  assert.ok("made" in verdict, `should be refused: ${"refusals" in verdict && [...verdict.refusals].join()}`);
  requireAnswer(happened);
  const draft = {
    resources: new Map(state.resources),
    deleted: new Map(state.deleted),
    receipts: new Map(state.receipts),
    sequences: new Map(state.sequences),
  };
  const changed = new Set(rows.map(({ collection, id }) => nameOf({ collection, id })));
  assert.deepEqual(
    [...changed].sort(),
    [...verdict.made.keys()].sort(),
    "what is logged is not what should change",
  );
  for (const row of rows) draft.sequences.set(row.collection, toNumber(row.sequence));
  requireOrigin(happened);
  for (const [name, { key, attributes }] of verdict.made) {
    const own = rows.filter(({ collection, id }) => nameOf({ collection, id }) === name);
    const asked = commit.changes.find((change) => nameOf(change.key) === name);
    const version = requireChain(state, name, own, asked?.after ?? asked?.last);
    if (asked !== undefined) assert.equal(own.length, 1, `${name} was changed twice`);
    draft.resources.delete(name);
    draft.deleted.delete(name);
    const text = asked === undefined ? JSON.stringify(attributes) : asked.next;
    if (attributes === undefined || text === undefined) draft.deleted.set(name, version);
    else draft.resources.set(name, { key, version, text, updatedAt: commit.at, attributes });
  }
  if (commit.receipt !== undefined) draft.receipts.set(commit.receipt.key, commit.receipt);
  return draft;
}

/** Requires that the response of the store agrees with the log. */
function requireAnswer({ commit, rows, committed }: Happened): void {
  if (committed === undefined) return;
  const logged = commit.changes.map(({ key }) => {
    const row = rows.find(({ collection, id }) => nameOf({ collection, id }) === nameOf(key));
    return { version: row?.version, sequence: row?.sequence };
  });
  assert.deepEqual(committed, logged, "the answer is not what is logged");
}

/** Requires that all changes have the time of their commit, and a group if there are several. */
function requireOrigin({ commit, rows }: Happened): void {
  for (const { at } of rows) assert.equal(at, commit.at);
  const groups = new Set(rows.map(({ group }) => group));
  if (rows.length > 0) assert.equal(groups.size, 1, "changes of one commit are in several groups");
  assert.equal(groups.has(undefined), rows.length === 1, "only changes of one commit have a group");
}

/** Requires that each change starts from the version before it. Returns the last version. */
function requireChain(state: State, name: string, own: readonly Logged[], after = 0): number {
  const before: Kept | undefined = state.resources.get(name);
  let version = before?.version ?? after;
  for (const [n, row] of own.entries()) {
    version++;
    assert.equal(row.version, version, `${name} has a version that does not follow on the last`);
    if (n === 0) assert.equal(row.superseded, before?.text, `${name} superseded another text`);
    else assert.notEqual(row.superseded, own[n - 1]?.superseded, `${name} was changed to what it was`);
  }
  return version;
}
