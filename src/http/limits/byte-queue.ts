/**
 * A queue for large work. It limits the bytes of work in progress, and other requests get turns of the event loop in between.
 * Waiting work holds no memory of this service. This file does not do any work itself.
 */
import { Problem } from "../../errors.ts";
import { type Connected, onGone } from "./gone.ts";
import { nextTurn } from "./turns.ts";

/** Work of fewer bytes does not wait: it takes a fraction of a millisecond. */
export const largeBytes = 65_536;

/** The bytes of work after which other requests get a turn. */
const maxBytesInARow = 2_097_152;

/** Waiting work that one turn of the event loop starts or refuses. */
const maxPerTurn = 50;

/** The most turns of the event loop that large work gives to new connections. */
const maxAcceptingTurns = 64;

/** Returns the expected size of work, in bytes; `undefined` if it is unknown. */
export type Expected = () => number | undefined;

/** The limits of a queue. */
export interface QueueLimits {
  /** What the queue is for, in the plural, as messages name it: `large reads`. */
  what: string;
  /** The maximum bytes under way. Larger work runs alone. */
  maxBytes: number;
  /** The size that counts for work of unknown size. */
  unknownBytes: number;
  maxWaiting: number;
  /** The time that work waits, in milliseconds. @default no limit */
  maxWaitMs?: number;
}

interface Waiting<Request> {
  request: Request;
  expected: Expected;
  start(): void;
  refuse(problem: unknown): void;
}

/** The large work of one kind, of all requests of one application. */
export class ByteQueue<Request extends Connected> {
  readonly #limits: QueueLimits;
  readonly #onStart: (request: Request, bytes: number | undefined) => void;
  readonly #underWay = new Map<Request, number>();
  #bytes = 0;
  #waiting: Waiting<Request>[] = [];
  #bytesInARow = 0;
  #isScheduled = false;
  #isQuiet = true;

  /** `onStart` is called before work starts. If it throws, the work does not start. */
  constructor(
    limits: QueueLimits,
    onStart: (request: Request, bytes: number | undefined) => void = () => undefined,
  ) {
    this.#limits = limits;
    this.#onStart = onStart;
  }

  /** Notes that a connection has arrived. */
  noteConnection(): void {
    this.#isQuiet = false;
  }

  /**
   * Waits for the turn of a request, in the order of arrival. `undefined` if it need not wait. Throws UNAVAILABLE if too many
   * wait or the wait takes too long, INVALID_REQUEST if the client goes away, and what `onStart` throws.
   */
  enter(request: Request, expected: Expected): Promise<void> | undefined {
    const bytes = expected();
    if (bytes !== undefined && bytes < largeBytes) return undefined;
    if (!this.#isScheduled && this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#start(request, bytes);
      return undefined;
    }
    if (this.#waiting.length >= this.#limits.maxWaiting) throw tooManyWaiting(this.#limits);
    return this.#wait(request, expected);
  }

  /** The bytes that count for the work of a request; 0 if none is under way. */
  bytesOf(request: Request): number {
    return this.#underWay.get(request) ?? 0;
  }

  /** Ends the work of a request, if it has some. */
  leave(request: Request): void {
    const bytes = this.#underWay.get(request);
    if (bytes === undefined) return;
    this.#underWay.delete(request);
    this.#bytes -= bytes;
    this.#bytesInARow += bytes;
    if (this.#waiting.length > 0 || this.#bytesInARow >= maxBytesInARow) this.#schedule();
  }

  #fits(bytes = this.#limits.unknownBytes): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#limits.maxBytes;
  }

  #start(request: Request, bytes: number | undefined): void {
    if (request.socket.destroyed) throw clientWentAway();
    this.#onStart(request, bytes);
    const counted = bytes ?? this.#limits.unknownBytes;
    this.#underWay.set(request, counted);
    this.#bytes += counted;
  }

  /** Waits for the turn of a request. If the client goes away or the wait takes too long, its place is free again. */
  #wait(request: Request, expected: Expected): Promise<void> {
    const { promise, resolve: start, reject: refuse } = Promise.withResolvers<void>();
    const waiting = { request, expected, start, refuse };
    this.#waiting.push(waiting);
    const giveUp = (problem: Problem) => {
      if (this.#waiting[0] === waiting) this.#schedule(); // the next one can be smaller
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      refuse(problem);
    };
    const stopWatching = onGone(request, () => giveUp(clientWentAway()));
    const { maxWaitMs } = this.#limits;
    const timer = maxWaitMs && setTimeout(() => giveUp(waitedTooLong(this.#limits)), maxWaitMs);
    return promise.finally(() => {
      clearTimeout(timer);
      stopWatching();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void this.#letOthersGo().then(() => {
      this.#isScheduled = false;
      this.#bytesInARow = 0;
      this.#startSome();
    });
  }

  /** Waits until no connection arrives. Node accepts one in each turn, so many new connections need many turns. */
  async #letOthersGo(): Promise<void> {
    for (let n = 0; n < maxAcceptingTurns; n++) {
      this.#isQuiet = true;
      await nextTurn();
      if (this.#isQuiet) return;
    }
  }

  #startSome(): void {
    for (let n = 0; n < maxPerTurn; n++) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const bytes = next.expected();
      if (!this.#fits(bytes)) return; // until another one ends
      this.#waiting.shift();
      try {
        this.#start(next.request, bytes);
        next.start();
      } catch (error) {
        next.refuse(error);
      }
    }
    if (this.#waiting.length > 0) this.#schedule();
  }
}

function tooManyWaiting({ what, maxWaiting }: QueueLimits): Problem {
  return new Problem("UNAVAILABLE", `${maxWaiting} ${what} are already waiting. Try again.`);
}

function waitedTooLong({ what, maxWaitMs }: QueueLimits): Problem {
  return new Problem("UNAVAILABLE", `Other ${what} came first for ${maxWaitMs} ms. Try again.`);
}

/** The problem of work that waited while its client went away. No client receives it. */
function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the response was ready.");
}
