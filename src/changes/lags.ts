/** How long subscribers have been behind the change log. A subscriber that waits for the next commit is not behind. */

/** One subscriber. */
type Subscriber = object;

/** The subscribers of one service that are behind. */
export class Lags {
  /** Since when each is behind, as times of `performance.now()`. The first one has been behind for longest. */
  readonly #behind = new Map<Subscriber, number>();

  /** Records that a subscriber has changes to send. */
  noteNews(subscriber: Subscriber): void {
    if (!this.#behind.has(subscriber)) this.#behind.set(subscriber, performance.now());
  }

  /** Records that a subscriber has sent everything, or has left. */
  noteEnd(subscriber: Subscriber): void {
    this.#behind.delete(subscriber);
  }

  /** How long the slowest subscriber has been behind, in seconds; 0 if no subscriber is behind. */
  get longest(): number {
    const [since] = this.#behind.values();
    return since === undefined ? 0 : (performance.now() - since) / 1_000;
  }
}
