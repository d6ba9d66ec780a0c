/** Delivers the events of one webhook, until it is stopped or the webhook is disabled. */
import { anyCollection } from "../changes/commit-watch.ts";
import { type FeedEvent, type FeedPage, readFeed } from "../changes/feed.ts";
import { Gone } from "../changes/log.ts";
import type { Position } from "../changes/position.ts";
import type { Change } from "../store/commit.ts";
import {
  deliveriesName,
  everyCollection,
  statesName,
  viewOfWebhook,
  type Webhook,
  webhooksName,
} from "./collection.ts";
import { bodyOf, sendSigned } from "./delivery.ts";
import { type Attempted, reasonToDisable, recordAfter, stateAfter } from "./outcome.ts";
import type { WebhookFeed, WebhookParts } from "./parts.ts";
import { collectionsOf, continued, marksOf, owedAt, placeNow, positionOf } from "./place.ts";
import type { Receivers } from "./receivers.ts";
import {
  type DeliveryRecord,
  deliveryId,
  put,
  remove,
  type Versioned,
  type WebhookState,
} from "./records.ts";
import type { Answer } from "./send.ts";

/** Events that are read together, and their text in characters. No more are read while so many have no response. */
const window = { events: 50, text: 4 * 1024 * 1024, isShared: true };

/** Retries at the same time. */
const maxRetries = 16;

/** With this many deliveries in the retry table, new events wait in the log. */
const maxRetrying = 1_000;

/** Deliveries that are kept for administrators: how many, how long in milliseconds, and how often the rest is removed. */
const kept = { most: 1_000, ms: 7 * 24 * 3_600_000, everyMs: 3_600_000, everyDeliveries: 200 };

/** A position that moved without a delivery is stored this often, in milliseconds. */
const storeIdleMs = 60_000;

/** One event to deliver: a new one, or one from the retry table. */
interface Due {
  attempted: Attempted;
  before: Versioned<DeliveryRecord> | undefined;
  /** The body; `undefined` if the log no longer has the change. */
  body: string | undefined;
  /** Events with the same name keep their order. */
  order: string;
  /** The time of the change: Unix time in milliseconds. */
  at: number;
}

/** One event after an attempt. */
interface Done {
  due: Due;
  answer: Answer;
  at: number;
}

/** A page of events, some of which have no response yet. */
interface OpenPage {
  /** Where the webhook is after these events. */
  position: Position;
  left: number;
}

/** The deliveries of one webhook. */
export class Worker {
  readonly #parts: WebhookParts;
  readonly #feed: WebhookFeed;
  readonly #receivers: Receivers;
  readonly #stopped: AbortSignal;
  readonly #startedAt: number;
  readonly #retrying = new Map<string, Versioned<DeliveryRecord>>();
  readonly #retriesUnderWay = new Set<string>();
  /** The last attempt of each resource: the next one waits for it. */
  readonly #lastOf = new Map<string, Promise<void>>();
  /** In the order in which they were read. */
  readonly #pages: OpenPage[] = [];
  #done: Done[] = [];
  #outstanding = 0;
  #noteDone = () => {};
  #webhook: Versioned<Webhook>;
  #state: Versioned<WebhookState> | undefined;
  /** Where it reads. */
  #reading: Position = [];
  /** Before this, every event was tried. */
  #position: Position = [];
  #storedPosition: Position = [];
  #storedAt = 0;
  #tidiedAt = 0;
  #sinceTidied = 0;
  #isDisabled = false;

  constructor(
    parts: WebhookParts & { feed: WebhookFeed },
    webhook: Versioned<Webhook>,
    { receivers, stopped }: { receivers: Receivers; stopped: AbortSignal },
  ) {
    this.#parts = parts;
    this.#feed = parts.feed;
    this.#webhook = webhook;
    this.#receivers = receivers;
    this.#stopped = stopped;
    this.#startedAt = parts.now();
  }

  /** Delivers until the signal is aborted. Throws PRECONDITION_FAILED if another instance has changed the records. */
  async run(): Promise<void> {
    const leave = this.#feed.watch.join();
    try {
      await this.#load();
      while (!this.#stopped.aborted && !this.#isDisabled) await this.#round();
      await this.#untilQuiet();
      if (this.#done.length > 0) await this.#store();
      else await this.#storePosition();
    } finally {
      await this.#untilQuiet();
      leave();
    }
  }

  /** Waits for the attempts under way. A worker that stops has aborted them. */
  async #untilQuiet(): Promise<void> {
    await Promise.all([...this.#lastOf.values()]);
  }

  get #id(): string {
    return this.#webhook.value.id;
  }

  async #load(): Promise<void> {
    const { records } = this.#parts;
    this.#state = await records.state(this.#id);
    const names = this.#names();
    // A state is created with its webhook. It is missing only if someone has removed it from the store.
    const marks = this.#state?.value.marks ?? (await placeNow(names, this.#parts));
    this.#storedPosition = positionOf(marks, names);
    this.#storedAt = this.#parts.clock.now();
    await this.#continueFrom(this.#storedPosition);
    for (const delivery of await records.deliveriesIn(this.#id, "retrying"))
      this.#retrying.set(delivery.value.event, delivery);
  }

  #names(): readonly string[] {
    return collectionsOf(this.#webhook.value, this.#parts);
  }

  /** Continues from a position, or from the next place that the log has. */
  async #continueFrom(from: Position): Promise<void> {
    const { position, lost, isForeign } = await continued(from, this.#parts);
    this.#reading = position;
    if (this.#pages.length === 0) this.#position = position;
    else this.#pages.push({ position, left: 0 });
    if (isForeign)
      this.#parts.warn(
        `the webhook ${this.#id} continues after the last change, because the store was restored or replaced`,
      );
    if (lost === 0) return;
    this.#parts.warn(`the webhook ${this.#id} lost ${lost} changes that the history no longer has`);
    const state = this.#stateValue();
    await this.#commit([], { ...state, lost: state.lost + lost });
  }

  #stateValue(): WebhookState {
    return this.#state?.value ?? { marks: {}, lost: 0 };
  }

  async #round(): Promise<void> {
    const { collections } = this.#webhook.value;
    const watched = collections.includes(everyCollection) ? [anyCollection] : collections;
    const seen = new Map(watched.map((name) => [name, this.#feed.watch.commits(name)]));
    if (this.#done.length > 0) await this.#store();
    if (this.#stopped.aborted || this.#isDisabled) return;
    const now = this.#parts.clock.now();
    for (const due of await this.#dueRetries(now)) this.#attempt(due, undefined);
    const isEnd = this.#isOpen ? await this.#readPage() : true;
    await this.#tidy();
    if (now - this.#storedAt >= storeIdleMs) await this.#storePosition();
    if (isEnd) await this.#wait(seen);
  }

  /** Whether more events can be read. */
  get #isOpen(): boolean {
    return this.#outstanding < window.events && this.#retrying.size + this.#outstanding < maxRetrying;
  }

  /** Reads a page and starts its deliveries. Returns whether it was the last one. */
  async #readPage(): Promise<boolean> {
    const { events, position, isEnd } = await this.#nextPage();
    if (position === this.#reading && events.length === 0) return isEnd;
    this.#reading = position;
    const due = await this.#newEvents(events);
    const last = this.#pages.at(-1);
    const page = due.length === 0 && last !== undefined ? last : { position, left: due.length };
    page.position = position;
    if (page !== last) this.#pages.push(page);
    for (const each of due) this.#attempt(each, page);
    this.#closePages();
    return isEnd;
  }

  /** Moves the position behind the pages whose events were all tried. */
  #closePages(): void {
    while (this.#pages[0]?.left === 0) this.#position = this.#pages.shift()?.position ?? this.#position;
  }

  async #nextPage(): Promise<FeedPage> {
    const names = this.#names();
    const views = names.flatMap((name) => viewOfWebhook(this.#webhook.value, name, this.#parts) ?? []);
    // Collections that are new since the last page join from their first change.
    const isSame = names.length === this.#reading.length;
    const position = isSame ? this.#reading : positionOf(marksOf(this.#reading), names);
    try {
      return await readFeed(this.#feed, views, position, window);
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      await this.#continueFrom(position);
      return { events: [], position: this.#reading, isEnd: false };
    }
  }

  async #newEvents(events: readonly FeedEvent[]): Promise<Due[]> {
    const { types } = this.#webhook.value;
    const wanted = events.filter(({ kind }) => types.includes(kind)).map((event) => this.#toDue(event));
    // The service may have stopped after it delivered an event, and before all earlier ones were tried.
    const known = await Promise.all(
      wanted.map(({ at, attempted }) =>
        at < this.#startedAt ? this.#parts.records.delivery(this.#id, attempted.event) : undefined,
      ),
    );
    return wanted.filter((_, n) => known[n] === undefined);
  }

  #toDue({ text, collection, change, kind }: FeedEvent): Due {
    const event = this.#feed.positions.eventId(collection, change.sequence);
    const { sequence } = change;
    const type = `${collection}.${kind}`;
    return {
      attempted: { webhook: this.#id, event, type, collection, sequence, kind, attempts: 0 },
      before: undefined,
      body: text,
      order: `${collection}/${change.id}`,
      at: change.at,
    };
  }

  async #dueRetries(now: number): Promise<Due[]> {
    const due = [...this.#retrying.values()]
      .filter(({ value }) => (value.nextAt ?? 0) <= now && !this.#retriesUnderWay.has(value.event))
      .sort((a, b) => (a.value.nextAt ?? 0) - (b.value.nextAt ?? 0))
      .slice(0, Math.max(0, maxRetries - this.#retriesUnderWay.size));
    return Promise.all(due.map((before) => this.#toRetry(before)));
  }

  async #toRetry(before: Versioned<DeliveryRecord>): Promise<Due> {
    const { webhook, event, type, collection, sequence, kind, attempts } = before.value;
    const attempted = { webhook, event, type, collection, sequence, kind, attempts };
    const body = await bodyOf(this.#parts, this.#webhook.value, before.value);
    return { attempted, before, body, order: event, at: 0 };
  }

  /** Starts an attempt, after those of the same resource. */
  #attempt(due: Due, page: OpenPage | undefined): void {
    const { order, attempted } = due;
    if (page === undefined) this.#retriesUnderWay.add(attempted.event);
    else this.#outstanding++;
    const attempt = async () => {
      const answer = await this.#send(due).catch(failed);
      if (page !== undefined) this.#outstanding--; // a retry is under way until its outcome is stored
      if (this.#lastOf.get(order) === running) this.#lastOf.delete(order);
      if (answer === undefined) return; // the worker stops
      if (page !== undefined) page.left--;
      this.#done.push({ due, answer, at: this.#parts.clock.now() });
      this.#noteDone();
    };
    const running: Promise<void> = (this.#lastOf.get(order) ?? Promise.resolve()).then(attempt);
    this.#lastOf.set(order, running);
  }

  /** Stores the outcomes of attempts. */
  async #store(): Promise<void> {
    const done = this.#done;
    this.#done = [];
    this.#closePages();
    let state = this.#stateValue();
    let reason: string | undefined;
    const records = done.map(({ due: { attempted, before, body }, answer, at }) => {
      if (body === undefined) {
        state = { ...state, lost: state.lost + 1 };
        return { before, record: { ...(before?.value as DeliveryRecord), ...givenUp } };
      }
      state = stateAfter(state, answer, at);
      if (!this.#isDisabled) reason ??= reasonToDisable(state, answer, at);
      const record = recordAfter(attempted, answer, { at, random: this.#parts.random() });
      return { before, record };
    });
    if (reason !== undefined) state = { ...state, disabledReason: reason };
    await this.#commit(records, state, reason);
  }

  async #send({ attempted: { event }, body }: Due): Promise<Answer | undefined> {
    if (body === undefined) return noLongerKept;
    const { url } = this.#webhook.value;
    return this.#receivers.run(url, () =>
      this.#stopped.aborted
        ? Promise.resolve(undefined)
        : sendSigned(this.#parts, { ...this.#signing(), event, body }, this.#stopped),
    );
  }

  #signing() {
    return { webhook: this.#webhook.value, state: this.#stateValue() };
  }

  /** Writes deliveries with the state, so that the position moves only together with them. */
  async #commit(
    deliveries: readonly { before: Versioned<DeliveryRecord> | undefined; record: DeliveryRecord }[],
    state: WebhookState,
    reason?: string,
  ): Promise<void> {
    const { records, clock } = this.#parts;
    const marks = { ...state.marks, ...marksOf(this.#position) };
    const retrying = new Map([...this.#retrying].map(([event, { value }]) => [event, value]));
    for (const { record } of deliveries) {
      if (record.state === "retrying") retrying.set(record.event, record);
      else retrying.delete(record.event);
    }
    const isDisabled = this.#isDisabled || reason !== undefined;
    const owes = !isDisabled ? owedAt(this.#webhook.value, marks, retrying.values()) : undefined;
    const next = { ...state, marks, owes };
    const changes: Change[] = [put(statesName, this.#id, this.#state, next)];
    for (const { before, record } of deliveries)
      changes.push(put(deliveriesName, deliveryId(this.#id, record.event), before, record));
    if (reason !== undefined)
      changes.push(put(webhooksName, this.#id, this.#webhook, { ...this.#webhook.value, enabled: false }));
    await records.commit(changes, clock.now());
    this.#state = { value: next, version: (this.#state?.version ?? 0) + 1 };
    this.#storedPosition = this.#position;
    this.#storedAt = clock.now();
    this.#sinceTidied += deliveries.length;
    for (const { before, record } of deliveries) this.#note(record, (before?.version ?? 0) + 1);
    if (reason === undefined) return;
    this.#isDisabled = true;
    this.#parts.warn(`the webhook ${this.#id} is disabled: ${reason}`);
  }

  #note(record: DeliveryRecord, version: number): void {
    this.#retriesUnderWay.delete(record.event);
    if (record.state === "retrying") this.#retrying.set(record.event, { value: record, version });
    else this.#retrying.delete(record.event);
  }

  async #storePosition(): Promise<void> {
    this.#storedAt = this.#parts.clock.now();
    if (this.#position === this.#storedPosition || this.#isDisabled) return;
    await this.#commit([], this.#stateValue());
  }

  /** Removes old deliveries, now and then. */
  async #tidy(): Promise<void> {
    const { records, clock } = this.#parts;
    const now = clock.now();
    if (this.#sinceTidied < kept.everyDeliveries && now - this.#tidiedAt < kept.everyMs) return;
    const before = now - kept.ms;
    const outdated = await records.outdated(this.#id, { most: kept.most, before, limit: 500 });
    await records.commit(
      outdated.map((each) => remove(deliveriesName, each.id, each)),
      now,
    );
    if (outdated.length > 0) return;
    this.#tidiedAt = now;
    this.#sinceTidied = 0;
  }

  /** Waits for a commit, for a response, for the next retry, or until it is time to store the position. */
  async #wait(seen: ReadonlyMap<string, number>): Promise<void> {
    const { clock } = this.#parts;
    const over = new AbortController();
    const end = () => over.abort();
    this.#stopped.addEventListener("abort", end);
    if (this.#stopped.aborted) end();
    this.#noteDone = end;
    if (this.#done.length > 0) end();
    const next = Math.min(
      this.#storedAt + storeIdleMs,
      ...[...this.#retrying.values()]
        .filter(({ value }) => !this.#retriesUnderWay.has(value.event))
        .filter(() => this.#retriesUnderWay.size < maxRetries) // otherwise a response comes first
        .map(({ value }) => value.nextAt ?? 0),
    );
    await Promise.race([
      clock.until(Math.max(next, clock.now()), over.signal),
      ...(this.#isOpen ? [this.#feed.watch.untilCommit(seen, over.signal)] : []),
    ]);
    end();
    this.#stopped.removeEventListener("abort", end);
  }
}

const noLongerKept: Answer = {
  isDelivered: false,
  status: undefined,
  error: "The history no longer has the change.",
  milliseconds: 0,
  response: "",
  retryAfterMs: 0,
};

const givenUp = { state: "dead", error: noLongerKept.error ?? null, nextAt: null } as const;

/** An error of the service itself counts as a failure of the delivery. */
function failed(error: unknown): Answer {
  return { ...noLongerKept, error: `The service failed: ${(error as Error).message}` };
}
