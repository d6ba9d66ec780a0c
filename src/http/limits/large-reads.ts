/**
 * Large reads take turns by bytes, and count as memory that their requests hold. A read that waits holds no memory. This
 * file does not read anything itself.
 */
import { type Budget, isOverBudget, noMemoryForResource, noMemoryForResponse, smallBytes } from "./budget.ts";
import { ByteQueue, type Expected, largeBytes } from "./byte-queue.ts";
import type { Connected } from "./gone.ts";

/** The size that counts for a read of unknown size: the longest page. */
const unknownBytes = 2_097_152;

/** Two of the longest pages at the same time. 500 waiting reads take a few seconds. */
const limits = { what: "large reads", maxBytes: 2 * unknownBytes, unknownBytes, maxWaiting: 500 };

/** The part of a request that a large read needs. */
interface Reader extends Connected {
  readonly content: { readonly heldBytes: number };
  readonly budget: Budget;
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

/** The large reads of one thread: they take turns of its event loop. What they hold counts for all threads. */
export class LargeReads {
  readonly sizes = new ResourceSizes();
  readonly #queue = new ByteQueue<Reader>(limits, (request, bytes) => {
    if (bytes === undefined) return;
    this.requireMemory(request, bytes);
    this.#hold(request, bytes);
  });
  /** The bytes of the budget that each request holds for its read. */
  readonly #held = new Map<Reader, number>();

  /** Notes that a connection has arrived. */
  noteConnection(): void {
    this.#queue.noteConnection();
  }

  /**
   * Waits for a turn, and counts the expected bytes as held by the request. `undefined` if the read need not wait. Throws
   * UNAVAILABLE while other requests hold too much memory or too many reads wait, and INVALID_REQUEST if the client goes away.
   */
  waitForTurn(request: Reader, expected: Expected): Promise<void> | undefined {
    return this.#queue.enter(request, expected);
  }

  /**
   * Corrects the expected size, as soon as the size is known. A read that is larger than expected waits for another turn.
   * Throws as `waitForTurn` does.
   */
  correct(request: Reader, bytes: number): Promise<void> | undefined {
    const expected = this.#queue.bytesOf(request);
    this.requireMemory(request, bytes);
    if (bytes <= Math.max(expected, largeBytes)) return undefined;
    this.#queue.leave(request);
    this.#hold(request, bytes);
    return this.waitForTurn(request, () => bytes);
  }

  /** Throws UNAVAILABLE while other requests hold too much memory for a read of this many bytes. Does not count them as held. */
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
    this.#queue.leave(request);
  }

  /** Counts at least `bytes` in total as held by a request, until its end. */
  #hold(request: Reader, bytes: number): void {
    const more = bytes - this.heldBy(request);
    if (more <= 0) return;
    this.#held.set(request, (this.#held.get(request) ?? 0) + more);
    request.budget.held += more;
  }
}
