/** The clock of a service for tests. */

/** A clock that tests move. */
export class TestClock {
  readonly #start: () => number;
  #movedMs = 0;

  /** `start`: where it stands still; `undefined`: it follows the machine. */
  constructor(start: number | Date | undefined) {
    const fixed = start === undefined ? undefined : Number(start);
    if (Number.isNaN(fixed)) throw new TypeError("now must be a Unix time in milliseconds, or a valid Date.");
    this.#start = fixed === undefined ? Date.now : () => fixed;
  }

  /** Unix time in milliseconds. */
  readonly now = () => this.#start() + this.#movedMs;

  /** Milliseconds that never go back. They also pass while `now` stands still, because checks of credentials are kept for less than a second. */
  readonly elapsed = () => performance.now() + this.#movedMs;

  move(ms: number): void {
    if (!(ms >= 0)) throw new RangeError("advance takes a number of milliseconds that is not negative.");
    this.#movedMs += ms;
  }
}
