/**
 * Performs calls in batches: all calls of one turn of the event loop, and all calls that arrive while the store is busy.
 * Each call still has its own outcome.
 */
import { Problem } from "../../errors.ts";
import { type Room, type TurnOptions, Turns } from "./turns.ts";

/** The outcome of one call: its answer, or the error that only this call is rejected with. */
export type Outcome<Answer> = { answer: Answer } | { error: unknown };

/** How calls are batched. */
export interface BatchOptions<Call, Answer> {
  /**
   * Performs the calls and returns their outcomes in the same order. If it throws, all calls are rejected with that error. If
   * it returns fewer outcomes, but at least one, the remaining calls are performed in the next turn of the event loop.
   * `since`: when each call arrived, if there is a clock.
   */
  perform(
    calls: readonly Call[],
    since: readonly number[] | undefined,
  ): Promise<readonly Outcome<Answer>[]> | readonly Outcome<Answer>[];
  /** Tells when calls arrive, in seconds. @default no clock */
  clock?: (() => number) | undefined;
  /** The limit of calls without an outcome. More calls are refused. @default 10000 */
  maxCalls?: number;
  /** The limit of the total weight of calls without an outcome. @default Infinity */
  maxWeight?: number;
  /** The weight of a call, in the unit of `maxWeight`. @default 0 */
  weigh?(call: Call): number;
  /**
   * How callers take turns if not all calls that wait can be performed now. `maxUnderWay` is the limit of the weight of calls that are
   * performed at the same time. A heavier call is performed alone. @default in the order of arrival
   */
  turns?: (TurnOptions<Call> & { maxUnderWay: number }) | undefined;
  /** The limit of calls in a batch, which can depend on its first call. @default 1000 */
  maxBatchSize?: number | ((first: Call) => number);
  /** The kind of a call. Only calls of one kind share a batch. @default all are of one kind */
  kindOf?: ((call: Call) => string) | undefined;
  /**
   * How many calls are resolved in one turn of the event loop. The rest are resolved in the next turns. The callers then
   * continue with work of their own, and other requests get a turn in between. @default Infinity
   */
  answersPerTurn?: () => number;
  /** The limit of batches that are performed at the same time. Later calls wait for the next batch. @default Infinity */
  maxConcurrent?: number;
}

interface Waiting<Call, Answer> {
  call: Call;
  weight: number;
  /** When the call arrived; 0 without a clock. */
  since: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * A queue for work that costs about the same for one call and for many. It performs the first calls at the end of the turn in which
 * the first one arrives.
 */
export class Batch<Call, Answer> {
  readonly #options: Required<BatchOptions<Call, Answer>>;
  readonly #turns: Turns<Call> | undefined;
  #waiting: Waiting<Call, Answer>[] = [];
  #unanswered = 0;
  /** The weight of all calls without an outcome, and of those that are performed. */
  #weight = 0;
  #underWay = 0;
  #running = 0;
  #isScheduled = false;
  #drains: (() => void)[] = [];

  constructor(options: BatchOptions<Call, Answer>) {
    this.#options = {
      maxCalls: 10_000,
      maxWeight: Number.POSITIVE_INFINITY,
      weigh: () => 0,
      maxBatchSize: 1_000,
      answersPerTurn: () => Number.POSITIVE_INFINITY,
      maxConcurrent: Number.POSITIVE_INFINITY,
      clock: undefined,
      kindOf: undefined,
      turns: undefined,
      ...options,
    };
    this.#turns = options.turns && new Turns(options.turns);
  }

  /** Performs the call together with others. Throws UNAVAILABLE if the queue is full, and the error of the call. */
  run(call: Call): Promise<Answer> {
    const weight = this.#options.weigh(call);
    if (!this.#accepts(weight)) return Promise.reject(queueFull());
    this.#unanswered++;
    this.#weight += weight;
    const since = this.#options.clock?.() ?? 0;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, weight, since, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when every call has its outcome. */
  drained(): Promise<void> {
    if (this.#unanswered === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drains.push(resolve));
  }

  /** An empty queue accepts every call, even one that weighs more than `maxWeight`. */
  #accepts(weight: number): boolean {
    const { maxCalls, maxWeight } = this.#options;
    return this.#unanswered === 0 || (this.#unanswered < maxCalls && this.#weight + weight <= maxWeight);
  }

  /** Starts after the poll phase. All requests that this turn reads from sockets are in the queue by then. */
  #schedule(): void {
    if (this.#isScheduled || !this.#canStart()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#waiting.length > 0 && this.#canStart()) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return; // nothing fits beside what is performed
      this.#perform(batch);
    }
  }

  #canStart(): boolean {
    return this.#running < this.#options.maxConcurrent;
  }

  /** Takes the call that waits longest, and others of its kind. */
  #nextBatch(): Waiting<Call, Answer>[] {
    const { maxBatchSize, kindOf, turns } = this.#options;
    const [first] = this.#waiting as [Waiting<Call, Answer>];
    const most = typeof maxBatchSize === "number" ? maxBatchSize : maxBatchSize(first.call);
    if (turns !== undefined) {
      const weight = turns.maxUnderWay - this.#underWay;
      const isAll = this.#waiting.length <= most && this.#weight - this.#underWay <= weight;
      return isAll ? this.#firstOf(most) : this.#takeTurns({ most, weight, isAlone: this.#underWay === 0 });
    }
    if (kindOf === undefined) return this.#firstOf(most);
    const kind = kindOf(first.call);
    const batch: Waiting<Call, Answer>[] = [];
    const rest: Waiting<Call, Answer>[] = [];
    for (const each of this.#waiting)
      (batch.length < most && kindOf(each.call) === kind ? batch : rest).push(each);
    this.#waiting = rest;
    return batch;
  }

  #takeTurns(room: Room): Waiting<Call, Answer>[] {
    const { taken, left } = (this.#turns as Turns<Call>).take(this.#waiting, room);
    this.#waiting = left;
    return taken;
  }

  /** Most batches are all calls that wait. They are not copied. */
  #firstOf(most: number): Waiting<Call, Answer>[] {
    if (this.#waiting.length > most) return this.#waiting.splice(0, most);
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  #perform(batch: readonly Waiting<Call, Answer>[]): void {
    this.#running++;
    for (const { weight } of batch) this.#underWay += weight;
    try {
      const { perform, clock } = this.#options;
      const since = clock && batch.map((each) => each.since);
      const outcomes = perform(
        batch.map(({ call }) => call),
        since,
      );
      if (outcomes instanceof Promise) {
        outcomes.then(
          (settled) => this.#settle(batch, settled),
          (error) => this.#rejectAll(batch, error),
        );
      } else {
        this.#settle(batch, outcomes);
      }
    } catch (error) {
      this.#rejectAll(batch, error);
    }
  }

  #rejectAll(batch: readonly Waiting<Call, Answer>[], error: unknown): void {
    this.#settle(
      batch,
      batch.map(() => ({ error })),
    );
  }

  #settle(batch: readonly Waiting<Call, Answer>[], outcomes: readonly Outcome<Answer>[], from = 0): void {
    if (outcomes.length > 0 && outcomes.length < batch.length) {
      const rest = batch.slice(outcomes.length);
      for (const { weight } of rest) this.#underWay -= weight;
      this.#waiting = [...rest, ...this.#waiting];
      this.#settle(batch.slice(0, outcomes.length), outcomes);
      return;
    }
    const to = Math.min(batch.length, from + this.#options.answersPerTurn());
    for (let index = from; index < to; index++)
      this.#answer(batch[index] as Waiting<Call, Answer>, outcomes[index]);
    this.#unanswered -= to - from;
    if (to < batch.length) {
      setImmediate(() => this.#settle(batch, outcomes, to));
      return;
    }
    this.#running--;
    if (this.#waiting.length > 0) this.#schedule();
    if (this.#unanswered > 0) return;
    for (const drained of this.#drains.splice(0)) drained();
  }

  #answer({ weight, resolve, reject }: Waiting<Call, Answer>, outcome: Outcome<Answer> | undefined): void {
    this.#weight -= weight;
    this.#underWay -= weight;
    if (outcome === undefined) reject(new Error("The batch has no outcome for this call."));
    else if ("error" in outcome) reject(outcome.error);
    else resolve(outcome.answer);
  }
}

function queueFull(): Problem {
  return new Problem("UNAVAILABLE", "Too many requests are waiting for the store. Try again.");
}
