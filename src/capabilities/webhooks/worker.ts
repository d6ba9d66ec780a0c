/** Delivers the events of one webhook, until it is stopped or the webhook is disabled. */
import { anyCollection } from "../../changes/commit-watch.ts";
import type { Versioned } from "../../records.ts";
import { Attempts, type Due, type Retry, RetryTable } from "./attempts.ts";
import { bodyOf, sendSigned, type WebhookFeed, type WebhookParts } from "./delivery.ts";
import { EventReader } from "./event-reader.ts";
import { type AttemptResult, noResponse } from "./send.ts";
import { everyCollection, type Webhook } from "./webhook.ts";
import { Journal } from "./webhook-records.ts";

/** What a worker depends on. */
export interface WorkerParts extends WebhookParts {
  feed: WebhookFeed;
  /** Aborted to stop the worker. */
  stopped: AbortSignal;
}

/** Delivers until the signal is aborted. Throws PRECONDITION_FAILED if another instance has changed the records. */
export async function deliver(parts: WorkerParts, webhook: Versioned<Webhook>): Promise<void> {
  const leave = parts.feed.watch.join();
  try {
    const { records } = parts;
    const { id } = webhook.value;
    const state = await records.state(id);
    const retries = new RetryTable(await records.retrying(id));
    // A webhook is deleted with its state. The worker would make a new state, which belongs to no webhook.
    if (state === undefined && (await records.webhook(id)) === undefined) return;
    const reader = await EventReader.open(parts, webhook.value, state?.value);
    const journal = new Journal(parts, webhook, { state, retries, reader });
    await new Worker(parts, webhook, { journal, reader }).run();
  } finally {
    leave();
  }
}

/** The deliveries of one webhook. Each round stores outcomes, starts retries, reads new events and starts them. */
class Worker {
  readonly #parts: WorkerParts;
  readonly #webhook: Webhook;
  readonly #version: number;
  readonly #journal: Journal;
  readonly #reader: EventReader;
  readonly #attempts: Attempts;
  /** Aborted when the webhook is no longer as this worker knows it, or when that cannot be read. */
  readonly #ended = new AbortController();
  /** Aborted to end the worker, whoever ends it. */
  readonly #stopped: AbortSignal;
  #failure: unknown;

  constructor(
    parts: WorkerParts,
    { value: webhook, version }: Versioned<Webhook>,
    read: { journal: Journal; reader: EventReader },
  ) {
    this.#parts = parts;
    this.#webhook = webhook;
    this.#version = version;
    this.#stopped = AbortSignal.any([parts.stopped, this.#ended.signal]);
    this.#journal = read.journal;
    this.#reader = read.reader;
    this.#attempts = new Attempts((due) => this.#send(due), parts.clock.now);
  }

  async run(): Promise<void> {
    try {
      while (!this.#isOver) await this.#round();
      await this.#attempts.settled();
      await this.#store();
      await this.#journal.storePosition();
      if (this.#failure !== undefined) throw this.#failure;
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
    if (isEnd) await this.#wait(seen);
  }

  /** Read this before the log, so that no commit between the two is missed. */
  #commitsSeen(): ReadonlyMap<string, number> {
    const { collections } = this.#webhook;
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
    const body = await bodyOf(this.#parts, this.#webhook, value);
    return { attempted: value, version, body, order: value.event };
  }

  get #canRead(): boolean {
    return this.#attempts.hasSpace && this.#journal.retries.hasSpaceFor(this.#attempts.underWay);
  }

  /** Reads a page and starts its deliveries. Returns whether it was the last one. */
  async #startNew(): Promise<boolean> {
    const { due, lost, isEnd } = await this.#reader.read();
    if (lost > 0) await this.#journal.addLost(lost);
    for (const each of due) this.#attempts.start(each);
    return isEnd;
  }

  async #send({ attempted, body }: Due): Promise<AttemptResult | undefined> {
    if (body === undefined) return noResponse("The history no longer has the change.");
    const stopped = this.#stopped;
    return this.#parts.receivers.inTurn(this.#webhook.url, async () => {
      if (stopped.aborted || !(await this.#isCurrent())) return undefined;
      const { state } = this.#journal;
      const sending = { webhook: this.#webhook, state, event: attempted.event, origin: attempted, body };
      return sendSigned(this.#parts, sending, stopped);
    });
  }

  /**
   * Whether the webhook is still as this worker knows it. Another instance or thread can have changed it, and no attempt may start
   * as it was before. If it is not, the worker ends. The events without a response are then sent again as the webhook is now.
   */
  async #isCurrent(): Promise<boolean> {
    try {
      const now = await this.#parts.records.webhook(this.#webhook.id);
      if (now?.version === this.#version) return true;
    } catch (error) {
      this.#failure ??= error;
    }
    this.#ended.abort();
    return false;
  }

  /** Waits for a commit, for responses, for the next retry, or until it is time to store the position. */
  async #wait(seen: ReadonlyMap<string, number>): Promise<void> {
    const { clock, feed } = this.#parts;
    const stopped = this.#stopped;
    const over = new AbortController();
    const end = () => over.abort();
    stopped.addEventListener("abort", end);
    if (stopped.aborted) end();
    this.#attempts.onDue(end);
    const { retries, positionDueAt } = this.#journal;
    // Without space for more attempts, a response comes first.
    const next = this.#attempts.hasSpace ? Math.min(positionDueAt, retries.nextAt) : positionDueAt;
    await Promise.race([
      clock.until(Math.max(next, clock.now()), over.signal),
      ...(this.#canRead ? [feed.watch.untilCommit(seen, over.signal)] : []),
    ]);
    end();
    stopped.removeEventListener("abort", end);
  }
}
