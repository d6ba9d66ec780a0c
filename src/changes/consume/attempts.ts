/** The attempts of one consumer, in memory: those that are under way, and the failed deliveries that are tried again. */
import type { Versioned } from "../../records.ts";
import { type Attempted, notHandled, type Outcome } from "./consumer.ts";
import type { DeliveryRecord } from "./consumer-records.ts";
import type { OpenPage } from "./event-reader.ts";

/** No more attempts start while this many events, or this much text in characters, have no outcome. */
const most = { events: 50, text: 512 * 1024 };

/** Outcomes are stored together: when there are this many, or this long after the first one, in milliseconds. */
const together = { outcomes: 25, ms: 20 };

/** One event to handle: a new one, or one from the retry table. */
export interface Due {
  attempted: Attempted;
  /** The version of its record; `undefined` before the first attempt. */
  version: number | undefined;
  /** The body; `undefined` if the log no longer has the change. */
  body: string | undefined;
  /** The `principal` of the change. */
  principal: string | undefined;
  /** Events with the same name keep their order. */
  order: string;
  /** The page with which a new event was read. */
  page?: OpenPage;
}

/** One event after an attempt. */
export interface Done {
  due: Due;
  outcome: Outcome;
  /** Unix time in milliseconds. */
  at: number;
}

/** The attempts of one consumer that are under way: in order for each resource, and few enough to fit in memory. */
export class Attempts {
  readonly #handle: (due: Due) => Promise<Outcome | undefined>;
  readonly #now: () => number;
  /** The last attempt of each order: the next one waits for it. */
  readonly #lastOf = new Map<string, Promise<void>>();
  #done: Done[] = [];
  #events = 0;
  #text = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #onDue = () => {};

  /** `handle` resolves to `undefined` if the worker stops. */
  constructor(handle: (due: Due) => Promise<Outcome | undefined>, now: () => number) {
    this.#handle = handle;
    this.#now = now;
  }

  /** Attempts without an outcome. */
  get underWay(): number {
    return this.#events;
  }

  /** Whether no attempt is under way, and no outcome has to be stored. */
  get isIdle(): boolean {
    return this.#events === 0 && this.#done.length === 0;
  }

  /** Whether another attempt can start. The last one that starts can exceed the limits. */
  get hasSpace(): boolean {
    return this.#events < most.events && this.#text < most.text;
  }

  /** Starts an attempt, after those of the same order. */
  start(due: Due): void {
    const { order, body = "" } = due;
    this.#events++;
    this.#text += body.length;
    const running: Promise<void> = (this.#lastOf.get(order) ?? Promise.resolve())
      .then(() => this.#handle(due).catch(failed))
      .then((outcome) => {
        this.#events--;
        this.#text -= body.length;
        if (this.#lastOf.get(order) === running) this.#lastOf.delete(order);
        if (outcome !== undefined) this.#note({ due, outcome, at: this.#now() });
      });
    this.#lastOf.set(order, running);
  }

  #note(done: Done): void {
    if (done.due.page !== undefined) done.due.page.left--;
    this.#done.push(done);
    if (this.#done.length >= together.outcomes || this.#events === 0) this.#callDue();
    else this.#timer ??= setTimeout(() => this.#callDue(), together.ms);
  }

  #callDue(): void {
    this.#isDue = true;
    this.#onDue();
  }

  /** Calls back when outcomes are due to be stored, at once if they are due now. */
  onDue(callback: () => void): void {
    this.#onDue = callback;
    if (this.#isDue) callback();
  }

  /** The outcomes since the last call. */
  take(): readonly Done[] {
    const done = this.#done;
    this.#done = [];
    this.#isDue = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return done;
  }

  /** Resolves when no attempt is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#lastOf.values());
  }
}

/** An error of the service itself counts as a failure of the delivery. */
function failed(error: unknown): Outcome {
  return notHandled(`The service failed: ${(error as Error).message}`);
}

/** The most retries at the same time. */
const maxUnderWay = 16;

/** The most failed deliveries. At the limit, new events wait in the log. */
const maxRetries = 1_000;

/** A delivery that failed, and the version of its record. To save memory, it is without its details. */
export type Retry = Versioned<DeliveryRecord>;

/** The failed deliveries of one consumer that are tried again. It handles and stores nothing. */
export class RetryTable {
  readonly #retries = new Map<string, Retry>();
  readonly #underWay = new Set<string>();

  constructor(records: readonly Versioned<DeliveryRecord>[]) {
    for (const { value, version } of records) this.note(value, version);
  }

  /** Whether the table stays within its limit if this many attempts fail. */
  hasSpaceFor(attempts: number): boolean {
    return this.#retries.size + attempts < maxRetries;
  }

  /** The retries that are due now, the earliest first. Call `take` before each starts. */
  dueAt(now: number): readonly Retry[] {
    return this.#waiting()
      .filter((retry) => nextAt(retry) <= now)
      .sort((a, b) => nextAt(a) - nextAt(b))
      .slice(0, maxUnderWay - this.#underWay.size);
  }

  /** Notes that a retry starts. It is under way until its outcome is stored. */
  take({ value: { event } }: Retry): void {
    this.#underWay.add(event);
  }

  /** The time of the next retry; Infinity if an outcome comes first. */
  get nextAt(): number {
    return this.#waiting().reduce((next, retry) => Math.min(next, nextAt(retry)), Number.POSITIVE_INFINITY);
  }

  #waiting(): Retry[] {
    if (this.#underWay.size >= maxUnderWay) return [];
    return [...this.#retries.values()].filter(({ value }) => !this.#underWay.has(value.event));
  }

  /** Notes a delivery as it is stored. */
  note(record: DeliveryRecord, version: number): void {
    this.#underWay.delete(record.event);
    if (record.state !== "retrying") this.#retries.delete(record.event);
    else this.#retries.set(record.event, { value: { ...record, details: {} }, version });
  }

  /** The failed deliveries as they will be when these records are stored. */
  after(records: readonly DeliveryRecord[]): readonly DeliveryRecord[] {
    const stored = new Set(records.map(({ event }) => event));
    const all = [
      ...[...this.#retries.values()].map(({ value }) => value).filter(({ event }) => !stored.has(event)),
      ...records,
    ];
    return all.filter(({ state }) => state === "retrying");
  }
}

function nextAt({ value }: Retry): number {
  return value.nextAt ?? 0;
}
