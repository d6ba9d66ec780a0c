/**
 * The regular work of a service with users: a minute after the start and then each hour, it removes expired sessions and keys, and
 * old entries of the audit.
 */
import type { Clock } from "../../clock.ts";
import { Problem } from "../../errors.ts";

const minuteMs = 60_000;

/** How often the works are done, in milliseconds. */
const everyMs = 60 * minuteMs;

/** What the regular work depends on. */
export interface HourlyParts {
  clock: Clock;
  /** Whether the store can be used. */
  isReady: () => boolean;
  warn: (message: string) => void;
  /** By a name for the log. Each has bounded steps, and ends early if the signal is aborted. */
  works: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
}

/** The regular work of one service. */
export class HourlyWork {
  readonly #parts: HourlyParts;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: HourlyParts) {
    this.#parts = parts;
  }

  /** Only one thread of a service starts. Other instances do the same work, and overtake each other without harm. */
  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, isReady, warn, works } = this.#parts;
    const { signal } = this.#stopping;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      await clock.until(clock.now() + (isFirst || !isReady() ? minuteMs : everyMs), signal);
      for (const [name, work] of Object.entries(works)) {
        if (signal.aborted || !isReady()) break;
        await work(signal).catch((error: unknown) => {
          // The store reports its own problems.
          if (!(error instanceof Problem)) warn(`${name}: ${(error as Error).message}`);
        });
      }
    }
  }
}
