/**
 * Lines to a file descriptor, of which none is ever waited for: a reader that is stuck, or a full disk, must not hold
 * up the service. What cannot be written now is held, within a bound; beyond it lines are dropped and counted.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

/** Somewhere to write lines. */
export interface LossyOutput {
  /** Writes a line, with its line end, now or later, or drops it. Never throws. */
  write(line: string): void;
  /** Tries once more to write what is held, and gives the descriptor back. */
  close(): void;
}

/** How an output behaves. */
export interface LossyOptions {
  /** Told how many lines were dropped, when writing works again; it may write a line about them. */
  onResume(dropped: number): void;
  /** What may be held, in bytes. @default 1048576 */
  maxHeldBytes?: number;
}

/** Until what is held is tried again: a reader that is only slow should find more to read by then. */
const retryMs = 10;

/** Opens an output to a file descriptor that stays open. */
export function openLossyOutput(fd: number, options: LossyOptions): LossyOutput {
  return new BoundedOutput(fd, options);
}

class BoundedOutput implements LossyOutput {
  readonly #fd: number;
  readonly #isOurs: boolean;
  readonly #options: Required<LossyOptions>;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(fd: number, options: LossyOptions) {
    const own = openWithoutBlocking(fd);
    this.#isOurs = own !== undefined;
    this.#fd = own ?? fd;
    this.#options = { maxHeldBytes: 1_048_576, ...options };
  }

  write(line: string): void {
    if (this.#timer !== undefined) {
      this.#hold(Buffer.from(line));
      return;
    }
    try {
      const written = writeSync(this.#fd, line);
      if (written < Buffer.byteLength(line)) this.#hold(Buffer.from(line).subarray(written));
    } catch {
      this.#hold(Buffer.from(line));
    }
  }

  close(): void {
    this.#flush();
    clearTimeout(this.#timer);
    if (this.#isOurs) closeSync(this.#fd);
  }

  /** Once a line is dropped all are, until what came before them is written: the gap is one. */
  #hold(bytes: Buffer): void {
    if (this.#dropped > 0 || this.#heldBytes + bytes.length > this.#options.maxHeldBytes) {
      this.#dropped++;
    } else {
      this.#held.push(bytes);
      this.#heldBytes += bytes.length;
    }
    this.#retryLater();
  }

  #retryLater(): void {
    this.#timer ??= setTimeout(() => this.#flush(), retryMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#held.length > 0) this.#writeHeld();
    if (this.#held.length > 0) {
      this.#retryLater();
    } else if (this.#dropped > 0) {
      const dropped = this.#dropped;
      this.#dropped = 0;
      this.#options.onResume(dropped);
    }
  }

  #writeHeld(): void {
    const [first] = this.#held;
    const bytes = first !== undefined && this.#held.length === 1 ? first : Buffer.concat(this.#held);
    let position = 0;
    try {
      while (position < bytes.length) position += writeSync(this.#fd, bytes, position);
    } catch {} // later, then
    const rest = bytes.subarray(position);
    this.#held = rest.length > 0 ? [rest] : [];
    this.#heldBytes = rest.length;
  }
}

/**
 * A pipe or a terminal opened anew, so that not waiting is ours alone: the flag would else be shared with every program
 * that writes there, and any of them that ends may take it back. `undefined` where that cannot be done; Node has then
 * set the flag for what it opens as `process.stderr`.
 */
function openWithoutBlocking(fd: number): number | undefined {
  try {
    if (!fstatSync(fd).isFIFO() && !isatty(fd)) return undefined; // a file opened anew would be written from its beginning
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return undefined;
  }
}
