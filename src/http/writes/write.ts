/**
 * The write pipeline: runs the steps of every write in order, and repeats them if another write comes first. `create.ts`,
 * `change.ts`, `restore.ts`, `../batch/batch.ts` and `../batch/bulk.ts` implement the steps.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../errors.ts";
import { createBackOff } from "../../store/core/back-off.ts";
import { isInternal } from "../../store/port/record.ts";
import type { Key, Stored } from "../../store/port/stored.ts";
import { notFound, type Result } from "../operations/result.ts";
import type { Pending, Service } from "../service.ts";
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
   * change it, or if a precondition fails. The pipeline calls this before it reads the content, and again in each attempt.
   * `pending`: the state that a commit in progress makes. It replaces the stored state.
   */
  find(write: Write<Op>, pending?: Stored): Promise<State | undefined>;
  /** Whether the write changes one resource and can start from its pending state. @default false */
  follows?(write: Write<Op>): boolean;
  /** Reads and checks the content. */
  read(write: Write<Op>): Promise<Content>;
  /** The names (`nameOf`) of the resources that the write changes. Writes to the same resource wait for each other. */
  resources(write: Write<Op>, content: Content): readonly string[];
  /** Decides what to commit. */
  decide(write: Write<Op>, state: State, content: Content): Promise<CommitPlan | WriteAttempt>;
}

/** Carries out a write. Throws what its steps throw, and UNAVAILABLE if other writes come first every time. */
export async function runWrite<Op extends WriteOperation, State, Content>(
  steps: WriteSteps<Op, State, Content>,
  write: Write<Op>,
): Promise<Result> {
  if ((await steps.find(write)) === undefined) return notFound;
  // Each attempt reads the state again, so the state needs no memory while the content arrives.
  write.request.largeReads.end(write.request);
  if ("collection" in write.operation && isInternal(write.operation.collection.name))
    await write.service.webhooks?.load();
  // The content comes before the turn of the write, so that a slow client does not delay other writes.
  const content = await steps.read(write);
  const { service } = write;
  const names = steps.resources(write, content);
  const [name] = names;
  if (name !== undefined && service.pending !== undefined && steps.follows?.(write)) {
    const queue = { name, pending: service.pending, writes: service.writes };
    return untilCommitted(service, () => attemptNext(steps, write, content, queue));
  }
  return inTurn(service, names, async () => {
    await Promise.all(names.map((each) => service.pending?.get(each)?.committed));
    return untilCommitted(service, () => attempt(steps, write, content));
  });
}

async function attempt<Op extends WriteOperation, State, Content>(
  steps: WriteSteps<Op, State, Content>,
  write: Write<Op>,
  content: Content,
): Promise<WriteAttempt> {
  return finish(write, await decide(steps, write, content));
}

async function decide<Op extends WriteOperation, State, Content>(
  steps: WriteSteps<Op, State, Content>,
  write: Write<Op>,
  content: Content,
  pending?: Stored,
): Promise<CommitPlan | WriteAttempt> {
  const state = await steps.find(write, pending);
  return state === undefined ? notFound : steps.decide(write, state, content);
}

function finish(write: Write, decided: CommitPlan | WriteAttempt): WriteAttempt | Promise<WriteAttempt> {
  return decided.kind === "plan" ? commit(write, decided) : decided;
}

/** The queue of the writes to one resource. */
interface Queue extends Pick<Service, "writes"> {
  name: string;
  pending: Map<string, Pending>;
}

/**
 * Attempts a change of one resource. Its turn ends when its commit is in the queue of the store. The next changes are decided from
 * the state that this commit makes, so all of them can share one flush. Their decisions count only if this commit succeeds.
 */
async function attemptNext<Op extends WriteOperation, State, Content>(
  steps: WriteSteps<Op, State, Content>,
  write: Write<Op>,
  content: Content,
  { name, pending, writes }: Queue,
): Promise<WriteAttempt> {
  const { outcome } = await writes.run(name, async () => {
    const latest = pending.get(name);
    const base = latest?.series.hasFailed ? undefined : latest;
    const deciding = decide(steps, write, content, base?.state);
    const decided = await deciding.catch(() => undefined);
    const change = decided?.kind === "plan" ? decided.changes[0] : undefined;
    if (decided?.kind !== "plan" || change?.next === undefined) {
      const finished = () => deciding.then((each) => finish(write, each));
      return {
        outcome: base === undefined ? finished() : base.committed.then((is) => (is ? finished() : overtaken)),
      };
    }
    if (base?.series.hasFailed) return { outcome: overtaken };
    const { key, expect, next: text } = change;
    const expectText = base && { expectText: base.state.text };
    const outcome = commit(write, { ...decided, changes: [{ ...change, ...expectText }] });
    const made = {
      state: { id: key.id, version: Number(expect) + 1, text, updatedAt: decided.at },
      committed: outcome.then(({ kind }) => kind !== "overtaken").catch(() => false),
      series: base?.series ?? { hasFailed: false },
    };
    pending.set(name, made);
    void made.committed.then((is) => {
      if (!is) made.series.hasFailed = true;
      if (pending.get(name) === made) pending.delete(name);
    });
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
  { settings }: Service,
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
  request.largeReads.hold(request, length);
}

function inTurn<T>({ writes }: Service, resources: readonly string[], task: () => Promise<T>): Promise<T> {
  return resources.reduceRight((inner, name) => () => writes.run(name, inner), task)();
}

/** The name of a resource for `WriteSteps.resources`. */
export function nameOf({ collection, id }: Key): string {
  return `${collection}/${id}`;
}
