/**
 * A queue for large work. It limits the bytes of work in progress, and other requests get turns of the event loop in between.
 * Waiting work holds no memory of this service. This file does not do any work itself.
 */
import { Problem } from "../../errors.ts";
import { Lines } from "../../store/core/lines.ts";
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

/** A request that asks for its turn. */
export interface Queued extends Connected {
  /** The name of its caller, because callers take turns. */
  caller(): string;
}

interface Waiting {
  caller: string;
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
  readonly #waiting = new Lines<Waiting>();
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
   * Waits for the turn of a request. Callers take turns. `undefined` if it need not wait. Throws UNAVAILABLE if too many
   * wait or the wait takes too long, INVALID_REQUEST if the client goes away, and what `onStart` throws.
   */
  enter(request: Queued, expected: Expected, onStart: OnStart = () => undefined): Promise<void> | undefined {
    const bytes = expected();
    if (bytes !== undefined && bytes < largeBytes) return undefined;
    if (!this.#isScheduled && this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#start({ request, onStart }, bytes);
      return undefined;
    }
    if (this.#waiting.length >= this.#limits.maxWaiting) this.#refuseOneFor(request);
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

  /** Makes place for a request: refuses the last one of the caller that waits for most. Throws UNAVAILABLE if it has the same caller. */
  #refuseOneFor(request: Queued): void {
    const last = this.#waiting.longest().at(-1) as Waiting;
    if (last.caller === request.caller()) throw tooManyWaiting(this.#limits);
    this.#waiting.remove(last);
    last.refuse(tooManyWaiting(this.#limits));
  }

  /** Waits for the turn of a request. If the client goes away or the wait takes too long, its place is free again. */
  #wait(work: Pick<Waiting, "expected" | "onStart"> & { request: Queued }): Promise<void> {
    const { promise, resolve: start, reject: refuse } = Promise.withResolvers<void>();
    const waiting = { ...work, caller: work.request.caller(), start, refuse };
    this.#waiting.add(waiting);
    const giveUp = (problem: Problem) => {
      if (this.#waiting.peek() === waiting) this.#schedule(); // the next one can be smaller
      this.#waiting.remove(waiting);
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
      const next = this.#waiting.peek();
      if (next === undefined) return;
      const bytes = next.expected();
      if (!this.#fits(bytes)) return; // until another one ends
      this.#waiting.take();
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
