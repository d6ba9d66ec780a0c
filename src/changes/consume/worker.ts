/** Handles the events of one consumer, until it is stopped or the consumer is disabled. */
import { placeBefore } from "../../store/port/log-place.ts";
import { anyCollection } from "../commit-watch.ts";
import { eventText, isConditional } from "../event.ts";
import { readFeed } from "../feed.ts";
import { noChange } from "../position.ts";
import { Attempts, type Due, type Retry, RetryTable } from "./attempts.ts";
import {
  type Attempted,
  type ConsumedFeed,
  type ConsumeParts,
  type Consumer,
  everyCollection,
  notHandled,
  type Outcome,
} from "./consumer.ts";
import { EventReader } from "./event-reader.ts";
import { Journal } from "./journal.ts";

/** What a worker depends on. */
export interface WorkerParts extends ConsumeParts {
  feed: ConsumedFeed;
  /** Aborted to stop the worker. */
  stopped: AbortSignal;
  /** Aborted when another instance can hand out the same events. */
  leaseLost: AbortSignal;
  /** Whether no other instance can hand them out now. An instance that stood still learns of `leaseLost` later. */
  holdsLease(): boolean;
  /** Whether the worker ends when it has handled every change until now and every delivery that is due. @default false */
  endsIdle?: boolean;
}

/**
 * Works until the signal is aborted. Returns whether it has begun to handle something. Throws PRECONDITION_FAILED if another instance has
 * changed the records.
 */
export async function consume(parts: WorkerParts, consumer: Consumer): Promise<boolean> {
  const leave = parts.feed.watch.join();
  try {
    const { records, kind } = parts;
    const { id } = consumer;
    const state = await records.state(id);
    const retries = new RetryTable(await records.retrying(id));
    // A consumer is removed with its state. The worker would make a new state, which belongs to no consumer.
    if (state === undefined && !(await kind.isCurrent(consumer))) return false;
    const reader = await EventReader.open({ ...parts, readsAll: parts.endsIdle }, consumer, state?.value);
    const journal = new Journal(parts, consumer, { state, retries, reader });
    return await new Worker(parts, consumer, { journal, reader }).run();
  } finally {
    leave();
  }
}

/** What an event that was read before is made from. */
export interface EventAgain {
  body: string;
  /** The `principal` of the change. */
  principal: string | undefined;
}

/** An event that was read before; `undefined` if the log no longer has its change. */
export async function readAgain(
  { store, feed }: Pick<ConsumeParts, "store" | "feed">,
  consumer: Consumer,
  { collection, sequence, kind }: Attempted,
): Promise<EventAgain | undefined> {
  const view = consumer.viewOf(collection);
  const { changes } = await store.changesAfter(collection, placeBefore(sequence), 1);
  const [change] = changes;
  if (view === undefined || feed === undefined || change?.sequence !== sequence) return undefined;
  return { body: eventText(feed, view, change, kind), principal: change.principal };
}

const onlyOne = { events: 1, text: 1, changes: 1, isShared: false, splitsCommits: true };

/** Whether a consumer could see a resource when the event was read, and may not see it now. Then it must not get the event. */
export async function isWithdrawn(
  feed: ConsumedFeed,
  consumer: Consumer,
  { collection, sequence, kind }: Attempted,
): Promise<boolean> {
  const view = consumer.viewOf(collection);
  if (view === undefined || !isConditional(view)) return view === undefined;
  const from = [{ collection, sequence: placeBefore(sequence), check: noChange }];
  const { events } = await readFeed(feed, [view], from, onlyOne);
  return !events.some((event) => event.change.sequence === sequence && event.kind === kind);
}

/** The events of one consumer. Each round stores outcomes, starts retries, reads new events and starts them. */
class Worker {
  readonly #parts: WorkerParts;
  readonly #consumer: Consumer;
  readonly #journal: Journal;
  readonly #reader: EventReader;
  readonly #attempts: Attempts;
  /** Aborted when the consumer is no longer as this worker knows it, or when that cannot be read. */
  readonly #ended = new AbortController();
  /** Aborted to end the worker, whoever ends it. */
  readonly #stopped: AbortSignal;
  #hasBegun = false;
  #failure: unknown;

  constructor(parts: WorkerParts, consumer: Consumer, read: { journal: Journal; reader: EventReader }) {
    this.#parts = parts;
    this.#consumer = consumer;
    this.#stopped = AbortSignal.any([parts.stopped, this.#ended.signal]);
    this.#journal = read.journal;
    this.#reader = read.reader;
    this.#attempts = new Attempts((due) => this.#handle(due), parts.clock.now);
  }

  async run(): Promise<boolean> {
    try {
      while (!this.#isOver) await this.#round();
      await this.#attempts.settled();
      await this.#store();
      await this.#journal.storePosition();
      if (this.#failure !== undefined) throw this.#failure;
      return this.#hasBegun;
    } finally {
      await this.#attempts.settled();
    }
  }

  get #isOver(): boolean {
    return this.#stopped.aborted || this.#journal.isDisabled;
  }

  async #round(): Promise<void> {
    const seen = this.#commitsSeen();
    await this.#store();
    if (this.#isOver) return;
    await this.#startRetries();
    const isEnd = this.#canRead ? await this.#startNew() : true;
    await this.#journal.cleanUp();
    const { clock } = this.#parts;
    if (clock.now() >= this.#journal.positionDueAt) await this.#journal.storePosition();
    if (!isEnd) return;
    if (this.#parts.endsIdle === true && this.#isIdle) this.#ended.abort();
    else await this.#wait(seen);
  }

  /** Whether it has nothing to do, if the log has no new change. */
  get #isIdle(): boolean {
    return this.#attempts.isIdle && this.#journal.retries.nextAt > this.#parts.clock.now();
  }

  /** Read this before the log, so that no commit between the two is missed. */
  #commitsSeen(): ReadonlyMap<string, number> {
    const { collections } = this.#consumer;
    const watched = collections.includes(everyCollection) ? [anyCollection] : collections;
    return new Map(watched.map((name) => [name, this.#parts.feed.watch.commits(name)]));
  }

  async #store(): Promise<void> {
    const done = this.#attempts.take();
    if (done.length > 0) await this.#journal.storeOutcomes(done);
  }

  async #startRetries(): Promise<void> {
    const { retries } = this.#journal;
    for (const retry of retries.dueAt(this.#parts.clock.now())) {
      if (!this.#attempts.hasSpace) return;
      retries.take(retry);
      this.#attempts.start(await this.#toDue(retry));
    }
  }

  async #toDue({ value, version }: Retry): Promise<Due> {
    const again = await readAgain(this.#parts, this.#consumer, value);
    const { body, principal } = again ?? {};
    return { attempted: value, version, body, principal, order: value.event };
  }

  get #canRead(): boolean {
    return this.#attempts.hasSpace && this.#journal.retries.hasSpaceFor(this.#attempts.underWay);
  }

  /** Reads a page and starts its attempts. Returns whether it was the last one. */
  async #startNew(): Promise<boolean> {
    const { due, lost, isEnd } = await this.#reader.read();
    if (lost > 0) await this.#journal.addLost(lost);
    for (const each of due) this.#attempts.start(each);
    return isEnd;
  }

  async #handle({ attempted, body, principal }: Due): Promise<Outcome | undefined> {
    this.#hasBegun = true;
    if (body === undefined) return notHandled("The history no longer has the change.");
    const { kind, leaseLost } = this.#parts;
    const { state } = this.#journal;
    const mayStart = () => this.#mayStart();
    return kind.handle(
      this.#consumer,
      { event: attempted, body, principal, state, mayStart, leaseLost },
      this.#stopped,
    );
  }

  /**
   * Whether the consumer is still as this worker knows it. Another instance or thread can have changed it, and no attempt may start
   * as it was before. If it is not, the worker ends. The events without an outcome are then handed out again as the consumer is now.
   */
  async #mayStart(): Promise<boolean> {
    if (this.#stopped.aborted) return false;
    try {
      if ((await this.#parts.kind.isCurrent(this.#consumer)) && this.#parts.holdsLease()) return true;
    } catch (error) {
      this.#failure ??= error;
    }
    this.#ended.abort();
    return false;
  }

  /** Waits for a commit, for outcomes, for the next retry, or until it is time to store the position. */
  async #wait(seen: ReadonlyMap<string, number>): Promise<void> {
    const { clock, feed } = this.#parts;
    const stopped = this.#stopped;
    const over = new AbortController();
    const end = () => over.abort();
    stopped.addEventListener("abort", end);
    if (stopped.aborted) end();
    this.#attempts.onDue(end);
    const { retries, positionDueAt } = this.#journal;
    // Without space for more attempts, an outcome comes first.
    const next = this.#attempts.hasSpace ? Math.min(positionDueAt, retries.nextAt) : positionDueAt;
    await Promise.race([
      clock.until(Math.max(next, clock.now()), over.signal),
      ...(this.#canRead ? [feed.watch.untilCommit(seen, over.signal)] : []),
    ]);
    end();
    stopped.removeEventListener("abort", end);
  }
}
