/**
 * Limits the bytes of large reads in progress, and gives other requests turns of the event loop in between. A read that
 * waits holds no memory. This file does not read anything itself.
 */
import { Problem } from "../../errors.ts";
import { type Budget, isOverBudget, noMemoryForResource, noMemoryForResponse, smallBytes } from "./budget.ts";
import { nextTurn } from "./turns.ts";

/** A read of fewer bytes does not wait: it takes a fraction of a millisecond. */
const largeBytes = 65_536;

/** The maximum bytes of large reads in progress: two of the longest pages. */
const maxBytesUnderWay = 4_194_304;

/** The maximum number of large reads that wait: a few seconds of work. */
const maxWaiting = 500;

/** The bytes of large reads after which other requests get a turn. */
const maxBytesInARow = 2_097_152;

/** Waiting reads that one turn of the event loop starts or refuses. */
const maxPerTurn = 50;

/** Turns of the event loop that a large read leaves to new connections, if they keep coming. */
const maxAcceptingTurns = 64;

/** Returns the expected size of a read, in bytes; `undefined` if it is unknown. */
export type Expected = () => number | undefined;

/** The size that counts for a read of unknown size: the longest page. */
const unknownBytes = 2_097_152;

/** The part of a request that a large read needs. */
interface Reader {
  readonly socket: { readonly destroyed: boolean };
  readonly content: { readonly heldBytes: number };
  readonly budget: Budget;
}

interface Waiting {
  request: Reader;
  expected: Expected;
  start(): void;
  refuse(problem: Problem): void;
}

/** The maximum number of collections with a known size of resources. */
const maxCollections = 1_000;

/** The size of a resource in each collection: the mean of the page, or the resource, that was read last. */
class ResourceSizes {
  readonly #means = new Map<string, number>();

  /** The expected bytes of a page with up to `limit` resources; `undefined` if unknown. */
  ofPage(collection: string, limit: number): number | undefined {
    const mean = this.#means.get(collection);
    return mean === undefined ? undefined : Math.min(mean * limit, unknownBytes);
  }

  /** The expected bytes of one resource; 0 if unknown, because most are small. */
  ofOne(collection: string): number {
    return this.#means.get(collection) ?? 0;
  }

  /** Notes the size of one resource. Ignores a small one if the collection has no known size, because that counts as small. */
  noteOne(collection: string, bytes: number): void {
    if (bytes >= largeBytes || this.#means.has(collection)) this.notePage(collection, 1, bytes);
  }

  /** Notes the size of a page. */
  notePage(collection: string, resources: number, bytes: number): void {
    if (resources === 0) return;
    if (this.#means.size >= maxCollections) this.#means.clear();
    this.#means.set(collection, bytes / resources);
  }
}

/** The large reads of one application. */
export class LargeReads {
  readonly sizes = new ResourceSizes();
  readonly #underWay = new Map<Reader, number>();
  /** The bytes of the budget that each request holds for its read. */
  readonly #held = new Map<Reader, number>();
  #bytes = 0;
  #waiting: Waiting[] = [];
  #bytesInARow = 0;
  #isScheduled = false;
  #isQuiet = true;

  /** Notes that a connection has arrived. */
  noteConnection(): void {
    this.#isQuiet = false;
  }

  /**
   * Waits for a turn, and counts the expected bytes as held by the request. `undefined` if the read need not wait. Throws
   * UNAVAILABLE while other requests hold too much memory or too many reads wait, and INVALID_REQUEST if the client went away.
   */
  waitForTurn(request: Reader, expected: Expected): Promise<void> | undefined {
    const bytes = expected();
    if (bytes !== undefined && bytes < largeBytes) return undefined;
    if (!this.#isScheduled && this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#start(request, bytes);
      return undefined;
    }
    if (this.#waiting.length >= maxWaiting) throw tooManyWaiting();
    return new Promise((start, refuse) => this.#waiting.push({ request, expected, start, refuse }));
  }

  /**
   * Corrects the expected size, as soon as the size is known. A read that is larger than expected waits for another turn.
   * Throws as `waitForTurn` does.
   */
  correct(request: Reader, bytes: number): Promise<void> | undefined {
    const expected = this.#underWay.get(request) ?? 0;
    this.requireMemory(request, bytes);
    if (bytes <= Math.max(expected, largeBytes)) return undefined;
    this.#leave(request);
    this.#hold(request, bytes);
    return this.waitForTurn(request, () => bytes);
  }

  /** Throws UNAVAILABLE while other requests hold too much memory for a read of so many bytes. It holds none yet. */
  requireMemory(request: Reader, bytes: number): void {
    if (isOverBudget(request.budget, bytes, this.heldBy(request))) throw noMemoryForResponse();
  }

  /**
   * Counts at least `bytes` in total as held by a request, until its end. Throws UNAVAILABLE while other requests hold too much
   * memory.
   */
  hold(request: Reader, bytes: number): void {
    if (bytes <= smallBytes) return;
    if (isOverBudget(request.budget, bytes, this.heldBy(request))) throw noMemoryForResource();
    this.#hold(request, bytes);
  }

  /** The bytes of the budget that the request holds, with those of its content. */
  heldBy(request: Reader): number {
    return request.content.heldBytes + (this.#held.get(request) ?? 0);
  }

  /** Ends the read of a request, if it has one, and gives back its part of the budget. */
  end(request: Reader): void {
    if (this.#held.size > 0) {
      request.budget.held -= this.#held.get(request) ?? 0;
      this.#held.delete(request);
    }
    this.#leave(request);
  }

  #leave(request: Reader): void {
    const bytes = this.#underWay.get(request);
    if (bytes === undefined) return;
    this.#underWay.delete(request);
    this.#bytes -= bytes;
    this.#bytesInARow += bytes;
    if (this.#waiting.length > 0 || this.#bytesInARow >= maxBytesInARow) this.#schedule();
  }

  #fits(bytes = unknownBytes): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= maxBytesUnderWay;
  }

  #start(request: Reader, bytes: number | undefined): void {
    if (request.socket.destroyed) throw clientWentAway();
    if (bytes !== undefined) {
      this.requireMemory(request, bytes);
      this.#hold(request, bytes);
    }
    this.#underWay.set(request, bytes ?? unknownBytes);
    this.#bytes += bytes ?? unknownBytes;
  }

  /** Counts at least `bytes` in total as held by a request, until its end. */
  #hold(request: Reader, bytes: number): void {
    const more = bytes - this.heldBy(request);
    if (more <= 0) return;
    this.#held.set(request, (this.#held.get(request) ?? 0) + more);
    request.budget.held += more;
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
        next.refuse(error as Problem);
      }
    }
    if (this.#waiting.length > 0) this.#schedule();
  }
}

function tooManyWaiting(): Problem {
  return new Problem("UNAVAILABLE", "Too many large reads are waiting. Try again.");
}

function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the response was ready.");
}
