/**
 * Performs calls together: those that are made in one turn of the event loop, and those that arrive while the store is
 * busy. Each call has its own outcome.
 */
import { Problem } from "../errors.ts";

/** The outcome of one call: its answer, or the error that only this call is rejected with. */
export type Outcome<Answer> = { answer: Answer } | { error: unknown };

/** How calls are combined. */
export interface BatchOptions<Call, Answer> {
  /**
   * Performs the calls and returns their outcomes in the same order. If it throws, every call is rejected with that
   * error. If it returns fewer outcomes, but at least one, the other calls are performed in the next turn of the event
   * loop.
   */
  perform(calls: readonly Call[]): Promise<readonly Outcome<Answer>[]> | readonly Outcome<Answer>[];
  /** How many calls can be unsettled. Further calls are refused. @default 10000 */
  maxCalls?: number;
  /** The limit of the sum of `weigh` over all unsettled calls. @default Infinity */
  maxWeight?: number;
  /** The weight of a call. @default 0 */
  weigh?(call: Call): number;
  /** How many calls are performed together at most. @default 1000 */
  maxTogether?: number;
  /**
   * How many calls are settled in one turn of the event loop. The others are settled in later turns, so that other
   * requests get their turn between the responses. @default Infinity
   */
  answersPerTurn?: () => number;
  /**
   * How many batches can be in progress at the same time. Calls that arrive in the meantime form the next batch.
   * @default Infinity
   */
  maxUnderWay?: number;
}

/** A queue for work that costs about the same for many calls as for one. */
export interface Batch<Call, Answer> {
  /**
   * Performs the call together with others. Rejects with UNAVAILABLE if too many calls wait, or with the error of the
   * call.
   */
  run(call: Call): Promise<Answer>;
  /** Resolves when every call is settled. */
  drained(): Promise<void>;
}

interface Waiting<Call, Answer> {
  call: Call;
  weight: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** Creates a batch. It starts at the end of the turn of the event loop in which the first call arrives. */
export function createBatch<Call, Answer>(options: BatchOptions<Call, Answer>): Batch<Call, Answer> {
  return new BoundedBatch(options);
}

class BoundedBatch<Call, Answer> implements Batch<Call, Answer> {
  readonly #options: Required<BatchOptions<Call, Answer>>;
  #waiting: Waiting<Call, Answer>[] = [];
  #unsettled = 0;
  #weight = 0;
  #inProgress = 0;
  #isScheduled = false;
  #onDrained: (() => void)[] = [];

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
    if (!this.#accepts(weight)) return Promise.reject(queueFull());
    this.#unsettled++;
    this.#weight += weight;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, weight, resolve, reject });
      this.#schedule();
    });
  }

  drained(): Promise<void> {
    if (this.#unsettled === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** A call that is heavier than the limit is accepted if no other call is unsettled. */
  #accepts(weight: number): boolean {
    const { maxCalls, maxWeight } = this.#options;
    return this.#unsettled === 0 || (this.#unsettled < maxCalls && this.#weight + weight <= maxWeight);
  }

  /** Runs after the poll phase. By then, every request that this turn has read from a socket is in the queue. */
  #schedule(): void {
    if (this.#isScheduled || this.#inProgress >= this.#options.maxUnderWay) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    const { maxTogether, maxUnderWay } = this.#options;
    while (this.#waiting.length > 0 && this.#inProgress < maxUnderWay) {
      const takesAll = this.#waiting.length <= maxTogether;
      const batch = takesAll ? this.#waiting : this.#waiting.splice(0, maxTogether);
      if (takesAll) this.#waiting = [];
      this.#perform(batch);
    }
  }

  #perform(batch: readonly Waiting<Call, Answer>[]): void {
    this.#inProgress++;
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
    this.#unsettled -= to - from;
    if (to < batch.length) {
      setImmediate(() => this.#settle(batch, outcomes, to));
      return;
    }
    this.#inProgress--;
    if (this.#waiting.length > 0) this.#schedule();
    if (this.#unsettled > 0) return;
    for (const drained of this.#onDrained.splice(0)) drained();
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
