/** What a request uses while it is in progress: its place, its memory, its turn and its span. */
import type { Budget } from "../limits/budget.ts";
import type { LargeReads } from "../limits/large-reads.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { RequestSpan } from "../service.ts";

/** What all requests share. */
interface Shared {
  budget: Budget;
  largeReads: LargeReads;
}

/** A request in progress. Its end releases everything that is left. */
export class InProgress {
  readonly #shared: Shared;
  readonly #request: HttpRequest;
  readonly #span: RequestSpan | undefined;
  #isReleased = false;

  constructor(shared: Shared, request: HttpRequest, span: RequestSpan | undefined) {
    this.#shared = shared;
    this.#request = request;
    this.#span = span;
  }

  /** Releases the memory and the turns of the request. From now on, its response counts. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#request.content.release();
    this.#shared.largeReads.end(this.#request);
  }

  /** The response was sent, or cannot be sent. */
  end(): void {
    this.release();
    this.#shared.budget.requests--;
    this.#span?.end();
  }
}
