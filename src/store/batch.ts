/**
 * Requests that arrive together travel together: calls made in one turn of the event loop, and those that
 * arrive while the store is busy, are performed in one go. Each call keeps its own fate.
 */
import { Problem } from "../errors.ts";

/** What came of one call: its answer, or the error that it alone is rejected with. */
export type Outcome<Answer> = { answer: Answer } | { error: unknown };

/** How calls are put together. */
export interface BatchOptions<Call, Answer> {
  /**
   * Performs the calls and gives their outcomes in the same order. What it throws, all of them are rejected with. If it gives
   * fewer outcomes, but at least one, the other calls are performed in the next turn of the event loop.
   */
  perform(calls: readonly Call[]): Promise<readonly Outcome<Answer>[]> | readonly Outcome<Answer>[];
  /** How many calls may be unanswered before others are refused. @default 10000 */
  maxCalls?: number;
  /** What `weigh` may sum up to over unanswered calls. @default Infinity */
  maxWeight?: number;
  /** What a call takes of `maxWeight`. @default 0 */
  weigh?(call: Call): number;
  /** How many calls travel together at most. @default 1000 */
  maxTogether?: number;
  /**
   * How many calls learn of their outcome in one turn of the event loop; the others do so in the next ones. What
   * follows on an answer takes its time, and whoever waits for something else should get a turn in between.
   * @default Infinity
   */
  answersPerTurn?: () => number;
  /** How many batches may be under way at once; calls that arrive meanwhile form the next. @default Infinity */
  maxUnderWay?: number;
}

/** A queue in front of something that does many calls as cheaply as one. */
export interface Batch<Call, Answer> {
  /** Performs the call together with others. Throws UNAVAILABLE when too many wait, and what became of the call. */
  run(call: Call): Promise<Answer>;
  /** Resolves when no call is unanswered. */
  drained(): Promise<void>;
}

interface Waiting<Call, Answer> {
  call: Call;
  weight: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** Creates a batch. It starts to perform at the end of the turn in which the first call came. */
export function createBatch<Call, Answer>(options: BatchOptions<Call, Answer>): Batch<Call, Answer> {
  return new BoundedBatch(options);
}

class BoundedBatch<Call, Answer> implements Batch<Call, Answer> {
  readonly #options: Required<BatchOptions<Call, Answer>>;
  #waiting: Waiting<Call, Answer>[] = [];
  #unanswered = 0;
  #weight = 0;
  #underWay = 0;
  #isScheduled = false;
  #drains: (() => void)[] = [];

  constructor(options: BatchOptions<Call, Answer>) {
    this.#options = {
      maxCalls: 10_000,
      maxWeight: Number.POSITIVE_INFINITY,
      weigh: () => 0,
      maxTogether: 1_000,
      answersPerTurn: () => Number.POSITIVE_INFINITY,
      maxUnderWay: Number.POSITIVE_INFINITY,
      ...options,
    };
  }

  run(call: Call): Promise<Answer> {
    const weight = this.#options.weigh(call);
    if (!this.#hasRoomFor(weight)) return Promise.reject(queueFull());
    this.#unanswered++;
    this.#weight += weight;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, weight, resolve, reject });
      this.#schedule();
    });
  }

  drained(): Promise<void> {
    if (this.#unanswered === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drains.push(resolve));
  }

  /** A call that is heavier than the whole queue may pass alone. */
  #hasRoomFor(weight: number): boolean {
    const { maxCalls, maxWeight } = this.#options;
    return this.#unanswered === 0 || (this.#unanswered < maxCalls && this.#weight + weight <= maxWeight);
  }

  /** After the poll phase: every request that this turn has read from its sockets is waiting by then. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= this.#options.maxUnderWay) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    const { maxTogether, maxUnderWay } = this.#options;
    while (this.#waiting.length > 0 && this.#underWay < maxUnderWay) {
      const isAll = this.#waiting.length <= maxTogether;
      const batch = isAll ? this.#waiting : this.#waiting.splice(0, maxTogether);
      if (isAll) this.#waiting = [];
      this.#perform(batch);
    }
  }

  #perform(batch: readonly Waiting<Call, Answer>[]): void {
    this.#underWay++;
    try {
      const outcomes = this.#options.perform(batch.map(({ call }) => call));
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
      this.#waiting = [...batch.slice(outcomes.length), ...this.#waiting];
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
    this.#underWay--;
    if (this.#waiting.length > 0) this.#schedule();
    if (this.#unanswered > 0) return;
    for (const drained of this.#drains.splice(0)) drained();
  }

  #answer({ weight, resolve, reject }: Waiting<Call, Answer>, outcome: Outcome<Answer> | undefined): void {
    this.#weight -= weight;
    if (outcome === undefined) reject(new Error("The batch has no outcome for this call."));
    else if ("error" in outcome) reject(outcome.error);
    else resolve(outcome.answer);
  }
}

function queueFull(): Problem {
  return new Problem("UNAVAILABLE", "Too many requests are waiting for the store. Try again.");
}
