/** Clients that use a store at the same time, and the record of their calls and outcomes. */
import { setImmediate as turn } from "node:timers/promises";
import { Problem, type ProblemCode } from "../../../../src/errors.ts";
import type { Change, Commit, Committed, KeptReceipt } from "../../../../src/store/port/commit.ts";
import type { Page } from "../../../../src/store/port/page.ts";
import type { Store } from "../../../../src/store/port/store.ts";
import type { Key, Stored } from "../../../../src/store/port/stored.ts";
import type { Timed } from "../../../linearizability/search.ts";
import { keys, newId, type Plan, type Step, type Wish } from "./plans.ts";

/** The call of a client. The `mark` of a commit is its principal, which identifies its changes in the log. */
export type Call =
  | { kind: "commit"; mark: string; commit: Commit }
  | { kind: "read"; key: Key }
  | { kind: "list"; collection: string }
  | { kind: "receipt"; key: string; now: number };

/** The outcome. `unknown`: the client never learned whether the commit happened. */
export type Outcome =
  | { kind: "committed"; committed: Committed }
  | { kind: "refused"; code: ProblemCode; pointer?: string | undefined }
  | { kind: "read"; stored?: Stored | undefined }
  | { kind: "listed"; page: Page }
  | { kind: "receipt"; receipt?: KeptReceipt | undefined }
  | { kind: "unknown" };

/** One operation of a history. */
export interface Recorded extends Timed {
  call: Call;
  outcome: Outcome;
}

/** Records the start of a call. Returns a function that records its outcome. */
export type Note = (call: Call) => (outcome: Outcome) => void;

/** How clients are run. */
export interface Run {
  /** The time of all their commits. */
  at: number;
  /** The start of the marks of commits. It differs between the runs on one store. */
  name: string;
  note: Note;
}

/**
 * Creates each resource of the plans, deletes and restores it, because only a deleted resource can be restored later. In the end,
 * many resources refer to each other.
 */
export async function bringAbout(store: Store, run: Run): Promise<void> {
  const made: readonly Omit<Change, "key">[] = [
    { expect: "absent", next: "" },
    { expect: 1, next: undefined },
    { expect: "absent", next: "", after: 2 },
  ];
  for (const [n, part] of made.entries()) {
    const principal = `${run.name}.${n}`;
    const next = (key: Key) =>
      part.next === undefined ? undefined : textFor(key, firstReferences(key), principal);
    const changes = keys.map((key): Change => ({ ...part, key, next: next(key) }));
    await commit(store, { changes, principal, at: run.at }, { ...run, name: principal });
  }
}

/** References that put each topic below the previous one, and all topics below users. */
function firstReferences({ collection, id }: Key): Wish["attributes"] {
  if (collection === "users") return {};
  const place = keys.findIndex((key) => key.collection === collection && key.id === id);
  const before = keys[place - 1];
  const parent = before?.collection === "topics" ? { parent: before.id } : {};
  return { by: place % 2 === 0 ? "kim" : "lee", n: 1 + (place % 2), ...(collection === "topics" && parent) };
}

/** Runs all clients of a plan at the same time. Each carries out its steps in order. Rejects if a store returns an impossible result. */
export async function runClients(store: Store, plan: Plan, run: Run): Promise<void> {
  await Promise.all(
    plan.map(async (steps, client) => {
      for (const [n, step] of steps.entries())
        await take(store, step, { ...run, name: `${run.name}.${client}.${n}` });
    }),
  );
}

async function take(store: Store, step: Step, run: Run): Promise<void> {
  switch (step.kind) {
    case "read":
      await read(store, step.key, run);
      return;
    case "list": {
      const answered = run.note(step);
      answered({ kind: "listed", page: await store.list({ collection: step.collection, limit: 10_000 }) });
      return;
    }
    case "receipt": {
      const answered = run.note({ ...step, now: run.at });
      answered({ kind: "receipt", receipt: await store.receipt(step.key, run.at) });
      return;
    }
    case "commit": {
      const changes: Change[] = [];
      for (const wish of step.wishes) changes.push(await changeFor(store, wish, run));
      for (let n = 0; n < step.heldTurns; n++) await turn();
      await commit(store, commitOf(step, changes, run), run);
    }
  }
}

async function read(store: Store, key: Key, { note }: Run): Promise<Stored | undefined> {
  const answered = note({ kind: "read", key });
  const stored = await store.read(key);
  answered({ kind: "read", stored });
  return stored;
}

/** The change for a wish. A create of a deleted resource must name the delete, as the contract of the store requires. */
async function changeFor(store: Store, wish: Wish, run: Run): Promise<Change> {
  const { isDelete, isChosen = false, drift } = wish;
  const isNew = wish.key.id === newId;
  const key = isNew ? { ...wish.key, id: run.name } : wish.key;
  const next = isDelete && !isNew ? undefined : textFor(key, wish.attributes, run.name);
  if (isNew && isChosen) return { key, expect: "absent", next, last: Math.max(0, drift) };
  if (isNew) return { key, expect: drift === 0 ? "absent" : 1, next };
  const current = await read(store, key, run);
  if (current !== undefined) return { key, expect: Math.max(1, current.version + drift), next };
  const [last] = await store.changesOf(key, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  if (last === undefined) throw new Error(`${key.collection}/${key.id} has never been there.`);
  if (last.kind !== "deleted" || isDelete) return { key, expect: last.version, next };
  const version = last.version + drift;
  return { key, expect: "absent", next, ...(isChosen ? { last: version } : { after: version }) };
}

function textFor({ collection, id }: Key, attributes: Wish["attributes"], mark: string): string {
  return JSON.stringify({ id: collection === "numbers" ? Number(id) : id, mark, ...attributes });
}

function commitOf(step: Step & { kind: "commit" }, changes: readonly Change[], { at, name }: Run): Commit {
  const { receipt } = step;
  const given = { changes, principal: name, at };
  if (receipt === undefined) return given;
  const { key, lifeMs } = receipt;
  return {
    ...given,
    receipt: { key, fingerprint: `of ${name}`, answer: name, expiresAt: at + lifeMs },
  };
}

async function commit(store: Store, given: Commit, { name, note }: Run): Promise<void> {
  const answered = note({ kind: "commit", mark: name, commit: given });
  try {
    answered({ kind: "committed", committed: await store.commit(given) });
  } catch (error) {
    if (!(error instanceof Problem) || error.code === "UNAVAILABLE") throw error;
    if (error.code === "OUTCOME_UNKNOWN") answered({ kind: "unknown" });
    else answered({ kind: "refused", code: error.code, pointer: error.attributes.join(" ") || undefined });
  }
}
