/** The clock of a service for tests. */
import type { ServiceClock } from "../clock.ts";

/** The longest timer of the machine, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** A clock that tests move. What waits for it wakes when it has moved far enough. */
export class TestClock implements ServiceClock {
  readonly #start: () => number;
  readonly #isFixed: boolean;
  /** Looks again whether something has waited for long enough. */
  readonly #looks = new Set<() => void>();
  #movedMs = 0;

  /** `start`: where it stands still; `undefined`: it follows the machine. */
  constructor(start: number | Date | undefined) {
    const fixed = start === undefined ? undefined : Number(start);
    if (Number.isNaN(fixed)) throw new TypeError("now must be a Unix time in milliseconds, or a valid Date.");
    this.#isFixed = fixed !== undefined;
    this.#start = fixed === undefined ? Date.now : () => fixed;
  }

  /** Unix time in milliseconds. */
  readonly now = () => this.#start() + this.#movedMs;

  /** Milliseconds that never go back. They also pass while `now` stands still, because code that hangs must end, and checks of credentials are kept for less than a second. */
  readonly elapsed = () => performance.now() + this.#movedMs;

  readonly until = (at: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const cancel = this.#wait(() => at - this.now(), { passes: !this.#isFixed, end });
      const onAbort = () => {
        cancel();
        end();
      };
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
    });

  readonly startTimer = (ms: number, callback: () => void) => {
    const at = this.elapsed() + ms;
    return this.#wait(() => at - this.elapsed(), { passes: true, end: callback });
  };

  /** Moves it forward. Throws RangeError. */
  move(ms: number): void {
    if (!(ms >= 0)) throw new RangeError("advance takes a number of milliseconds that is not negative.");
    this.#movedMs += ms;
    for (const look of this.#looks) look();
  }

  /** Calls `end` once nothing is left. `passes`: whether the time also passes by itself. Returns what cancels it. */
  #wait(leftMs: () => number, { passes, end }: { passes: boolean; end: () => void }): () => void {
    let timer: NodeJS.Timeout | undefined;
    const cancel = () => {
      clearTimeout(timer);
      this.#looks.delete(look);
    };
    const lookIn = (ms: number) => {
      clearTimeout(timer);
      if (passes || ms <= 0) timer = setTimeout(look, Math.max(0, Math.min(ms, longestTimer)));
    };
    const look = () => {
      const left = leftMs();
      if (left > 0) return lookIn(left);
      cancel();
      end();
    };
    this.#looks.add(look);
    lookIn(leftMs()); // never at once: what waits for a time in the past again and again would let nothing else run
    return cancel;
  }
}
