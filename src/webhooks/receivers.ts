/** Limits how many requests one receiver gets at the same time. */

/** Requests to one receiver at the same time. */
const maxAtOnce = 8;

/** The receivers of all webhooks of one service, by origin. One receiver never waits for another. */
export class Receivers {
  readonly #receivers = new Map<string, { running: number; waiting: (() => void)[] }>();

  /** Runs work for the receiver at a URL, when fewer than 8 others run. */
  async run<T>(url: string, work: () => Promise<T>): Promise<T> {
    const { origin } = new URL(url);
    const receiver = this.#receivers.get(origin) ?? { running: 0, waiting: [] };
    this.#receivers.set(origin, receiver);
    if (receiver.running >= maxAtOnce) await new Promise<void>((start) => receiver.waiting.push(start));
    else receiver.running++;
    try {
      return await work();
    } finally {
      const next = receiver.waiting.shift();
      if (next !== undefined) next();
      else if (--receiver.running === 0) this.#receivers.delete(origin);
    }
  }
}
