/**
 * A queue for large work. It limits the bytes of work in progress, and other requests get turns of the event loop in between.
 * Waiting work holds no memory of this service. This file does not do any work itself.
 */
import { Problem } from "../../errors.ts";
import { type Connected, onGone } from "./gone.ts";
import { largeBytes, nextTurn } from "./turns.ts";

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

/** Is called before work starts, with its bytes if they are known. If it throws, the work does not start. */
type OnStart = (bytes: number | undefined) => void;

interface Waiting {
  request: Connected;
  expected: Expected;
  onStart: OnStart;
  start(): void;
  refuse(problem: unknown): void;
}

/** The large work of one kind, of all requests of one application. */
export class ByteQueue {
  readonly #limits: QueueLimits;
  readonly #underWay = new Map<Connected, number>();
  #bytes = 0;
  #waiting: Waiting[] = [];
  #bytesInARow = 0;
  #isScheduled = false;
  #isQuiet = true;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Notes that a connection has arrived. */
  noteConnection(): void {
    this.#isQuiet = false;
  }

  /**
   * Waits for the turn of a request, in the order of arrival. `undefined` if it need not wait. Throws UNAVAILABLE if too many
   * wait or the wait takes too long, INVALID_REQUEST if the client goes away, and what `onStart` throws.
   */
  enter(
    request: Connected,
    expected: Expected,
    onStart: OnStart = () => undefined,
  ): Promise<void> | undefined {
    const bytes = expected();
    if (bytes !== undefined && bytes < largeBytes) return undefined;
    if (!this.#isScheduled && this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#start({ request, onStart }, bytes);
      return undefined;
    }
    if (this.#waiting.length >= this.#limits.maxWaiting) throw tooManyWaiting(this.#limits);
    return this.#wait({ request, expected, onStart });
  }

  /** The bytes that count for the work of a request; 0 if none is under way. */
  bytesOf(request: Connected): number {
    return this.#underWay.get(request) ?? 0;
  }

  /** Ends the work of a request, if it has some. */
  leave(request: Connected): void {
    if (this.#underWay.size === 0) return;
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

  #start({ request, onStart }: Pick<Waiting, "request" | "onStart">, bytes: number | undefined): void {
    if (request.socket.destroyed) throw clientWentAway();
    onStart(bytes);
    const counted = bytes ?? this.#limits.unknownBytes;
    this.#underWay.set(request, counted);
    this.#bytes += counted;
  }

  /** Waits for the turn of a request. If the client goes away or the wait takes too long, its place is free again. */
  #wait(work: Omit<Waiting, "start" | "refuse">): Promise<void> {
    const { promise, resolve: start, reject: refuse } = Promise.withResolvers<void>();
    const waiting = { ...work, start, refuse };
    this.#waiting.push(waiting);
    const giveUp = (problem: Problem) => {
      if (this.#waiting[0] === waiting) this.#schedule(); // the next one can be smaller
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      refuse(problem);
    };
    const stopWatching = onGone(work.request, () => giveUp(clientWentAway()));
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
        this.#start(next, bytes);
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
