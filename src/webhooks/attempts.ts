/** The attempts of one webhook that are under way: in order for each resource, and few enough to fit in memory. */
import type { OpenPage } from "./event-reader.ts";
import type { Attempted } from "./outcome.ts";
import { type AttemptResult, noResponse } from "./send.ts";

/** No more attempts start while this many events, or this much text in characters, have no response. */
const most = { events: 50, text: 512 * 1024 };

/** Outcomes are stored together: when there are this many, or this long after the first one, in milliseconds. */
const together = { outcomes: 25, ms: 20 };

/** One event to deliver: a new one, or one from the retry table. */
export interface Due {
  attempted: Attempted;
  /** The version of its record; `undefined` before the first attempt. */
  version: number | undefined;
  /** The body; `undefined` if the log no longer has the change. */
  body: string | undefined;
  /** Events with the same name keep their order. */
  order: string;
  /** The time of the change: Unix time in milliseconds; 0 for a retry. */
  at: number;
  /** The page with which a new event was read. */
  page: OpenPage | undefined;
}

/** One event after an attempt. */
export interface Done {
  due: Due;
  result: AttemptResult;
  /** Unix time in milliseconds. */
  at: number;
}

/** The attempts of one webhook. */
export class Attempts {
  readonly #send: (due: Due) => Promise<AttemptResult | undefined>;
  readonly #now: () => number;
  /** The last attempt of each order: the next one waits for it. */
  readonly #lastOf = new Map<string, Promise<void>>();
  #done: Done[] = [];
  #events = 0;
  #text = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;
  #onDue = () => {};

  /** `send` resolves to `undefined` if the worker stops. */
  constructor(send: (due: Due) => Promise<AttemptResult | undefined>, now: () => number) {
    this.#send = send;
    this.#now = now;
  }

  /** Attempts without a response. */
  get underWay(): number {
    return this.#events;
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
      .then(() => this.#send(due).catch(failed))
      .then((result) => {
        this.#events--;
        this.#text -= body.length;
        if (this.#lastOf.get(order) === running) this.#lastOf.delete(order);
        if (result !== undefined) this.#note({ due, result, at: this.#now() });
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
function failed(error: unknown): AttemptResult {
  return noResponse(`The service failed: ${(error as Error).message}`);
}
