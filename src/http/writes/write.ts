/**
 * The write pipeline: runs the steps of every write in order, and repeats them if another write comes first. `create.ts`,
 * `change.ts`, `restore.ts`, `../many/batch.ts` and `../many/bulk.ts` implement the steps.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../errors.ts";
import { createBackOff } from "../../store/core/back-off.ts";
import { allChangesOf, type Change } from "../../store/port/commit.ts";
import type { Key, Stored } from "../../store/port/stored.ts";
import { notFound, type Result } from "../operations/result.ts";
import type { Pending, Surface } from "../service.ts";
import {
  type CommitPlan,
  commit,
  overtaken,
  type Write,
  type WriteAttempt,
  type WriteOperation,
} from "./commit.ts";

/** How one kind of write does each step. */
export interface WriteSteps<Op extends WriteOperation, State, Content> {
  /**
   * Finds the state that the write changes; `undefined` if it does not exist for the caller. Throws if the caller cannot
   * change it, or if a precondition fails. The pipeline calls this before it reads the content, and again if the state may be old.
   */
  find(write: Write<Op>, pending?: PendingStates): Promise<State | undefined>;
  /** Whether the write deletes nothing, and can start from the pending states of its resources. @default false */
  follows?(write: Write<Op>, content: Content): boolean;
  /** Reads and checks the content. */
  read(write: Write<Op>): Promise<Content>;
  /** The names (`nameOf`) of the resources that the write changes. Writes to the same resource wait for each other. */
  resources(write: Write<Op>, content: Content): readonly string[];
  /** Decides what to commit. */
  decide(
    write: Write<Op>,
    state: State,
    content: Content,
    pending?: PendingStates,
  ): Promise<CommitPlan | WriteAttempt>;
}

/**
 * The first name of writes that change many resources. One of them is carried out at a time, and callers take turns. The write has its
 * turn before its resources, so that others do not wait for them longer than for one commit.
 */
export const largeTurn = "large";

/** The states that commits in progress make, by the names of the resources. They replace the stored states. */
export type PendingStates = ReadonlyMap<string, Pick<Pending, "state">>;

/** The turn of a write: its resources, the pending states of all resources, and what it does there. */
interface Turn {
  names: readonly string[];
  pending: Map<string, Pending>;
  /** Does a task when the earlier writes to the same resources have had their turn. */
  take<T>(task: () => Promise<T>): Promise<T>;
  /** Decides from the stored states of the resources, or from the pending ones. */
  decide(pending?: PendingStates): Promise<CommitPlan | WriteAttempt>;
}

/** Carries out a write. Throws what its steps throw, and UNAVAILABLE if other writes come first every time. */
export async function runWrite<Op extends WriteOperation, State, Content>(
  steps: WriteSteps<Op, State, Content>,
  write: Write<Op>,
): Promise<Result> {
  const { service, request } = write;
  let found = await steps.find(write);
  if (found === undefined) return notFound;
  /** While the write waits, the state would need memory and become old. */
  const forget = () => {
    found = undefined;
    request.ticket.endRead();
  };
  if (!request.content.isComplete) forget(); // the rest can take long to arrive
  const participant =
    "collection" in write.operation && service.participants.get(write.operation.collection.name);
  if (participant) await participant.load?.();
  // The content comes before the turn of the write, so that a slow client does not delay other writes.
  const content = await steps.read(write);
  const names = steps.resources(write, content);
  const { pending = new Map() } = service;
  const turn: Turn = {
    names,
    pending,
    take(task) {
      let hasStarted = false;
      const start = () => {
        hasStarted = true;
        return task();
      };
      const done = names.reduceRight(
        (inner, name) => () =>
          service.writes.run(name, inner, name === largeTurn ? request.ticket.caller() : undefined),
        start,
      )();
      if (!hasStarted) forget(); // another write has its turn now
      return done;
    },
    async decide(bases) {
      const isOld = bases !== undefined && bases.size > 0;
      const state = (isOld ? undefined : found) ?? (await steps.find(write, bases));
      found = undefined; // if this attempt fails, the state is old
      return state === undefined ? notFound : steps.decide(write, state, content, bases);
    },
  };
  if (names.length > 0 && service.pending !== undefined && steps.follows?.(write, content))
    return untilCommitted(service, () => attemptNext(write, turn));
  return turn.take(async () => {
    const committing = names.flatMap((each) => pending.get(each)?.committed ?? []);
    if (committing.length > 0) forget();
    await Promise.all(committing);
    return untilCommitted(service, async () => finish(write, await turn.decide()));
  });
}

function finish(write: Write, decided: CommitPlan | WriteAttempt): WriteAttempt | Promise<WriteAttempt> {
  return decided.kind === "plan" ? commit(write, decided) : decided;
}

/**
 * Attempts a change of resources. Its turn ends when its commit is in the queue of the store. The next changes are decided from
 * the states that this commit makes, so all of them can share one flush. Their decisions count only if this commit succeeds.
 */
async function attemptNext(write: Write, { names, pending, take, decide }: Turn): Promise<WriteAttempt> {
  const { outcome } = await take(async () => {
    const latest = names.map((name) => [name, pending.get(name)] as const);
    const bases = new Map(
      latest.flatMap(([name, each]) => (each && !each.series.hasFailed ? [[name, each]] : [])),
    );
    const deciding = decide(bases);
    const decided = await deciding.catch(() => undefined);
    if (decided?.kind !== "plan" || !decided.changes.some(({ next }) => next !== undefined)) {
      const finished = () => deciding.then((each) => finish(write, each));
      const committed = Promise.all(Array.from(bases.values(), (base) => base.committed));
      const isFirst = bases.size === 0;
      return {
        outcome: isFirst
          ? finished()
          : committed.then((all) => (all.every(Boolean) ? finished() : overtaken)),
      };
    }
    // The commit does not compare the states that it leaves as they are.
    const isChanged = (name: string) => allChangesOf(decided).some(({ key }) => nameOf(key) === name);
    const unchanged = [...bases].filter(([name]) => !isChanged(name)).map(([, base]) => base.committed);
    if (!(await Promise.all(unchanged)).every(Boolean)) return { outcome: overtaken };
    if (bases.values().some(({ series }) => series.hasFailed)) return { outcome: overtaken };
    const withBase = (change: Change) => {
      const base = bases.get(nameOf(change.key));
      const isFromBase = base !== undefined && change.expect === base.state.version;
      return isFromBase ? { ...change, expectText: base.state.text } : change;
    };
    const changes = decided.changes.map(withBase);
    const steps = decided.steps?.map((step) => step.map(withBase));
    const outcome = commit(write, { ...decided, changes, ...(steps && { steps }) });
    const committed = outcome.then(({ kind }) => kind !== "overtaken").catch(() => false);
    for (const { key, expect, next: text } of changes) {
      const name = nameOf(key);
      if (text === undefined || expect === "absent") continue; // other writes learn a new id only from the response
      const state = { id: key.id, version: expect + 1, text, updatedAt: decided.at };
      const made = { state, committed, series: bases.get(name)?.series ?? { hasFailed: false } };
      pending.set(name, made);
      void committed.then((is) => {
        if (!is) made.series.hasFailed = true;
        if (pending.get(name) === made) pending.delete(name);
      });
    }
    return { outcome };
  });
  return outcome;
}

/** The waits between attempts, in milliseconds. A write that waits longer than the others is overtaken more often. */
const retryBounds = { first: 2, most: 50 };

/**
 * Attempts a write until it is no longer overtaken. The waits between attempts are random, so that two instances do not
 * stay in step. The attempts end when the time for a request is over (`handlerTimeoutMs`).
 */
export async function untilCommitted(
  { settings }: Surface,
  attemptOnce: () => Promise<WriteAttempt>,
): Promise<Result> {
  const since = performance.now();
  let nextWait: (() => number) | undefined;
  for (;;) {
    const outcome = await attemptOnce();
    if (outcome.kind !== "overtaken") return outcome;
    nextWait ??= createBackOff(retryBounds);
    const wait = nextWait();
    if (performance.now() + wait - since > settings.limits.handlerTimeoutMs)
      throw new Problem("UNAVAILABLE", "Other writes came first every time. Try again.");
    await delay(wait);
  }
}

/**
 * Counts the versions that a write has read as memory that its request holds. Throws UNAVAILABLE while other requests hold
 * too much.
 */
export function hold({ request }: Write, ...versions: Stored[]): void {
  const length = versions.reduce((sum, { text }) => sum + text.length, 0);
  request.ticket.hold(length);
}

/** The name of a resource for `WriteSteps.resources`. */
export function nameOf({ collection, id }: Key): string {
  return `${collection}/${id}`;
}
