/** The log of the service: JSON lines on standard error, or readable lines on a terminal. */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { Logger } from "pino";
import { createLineLog } from "../../server/open-service.ts";

/** The log of this process. */
export interface ProcessLog {
  log: Logger;
  /** Writes complete lines of other threads, so that lines are never mixed. */
  writeLines(lines: readonly string[]): void;
}

/** Creates the log. It drops lines instead of blocking the service. */
export async function createLog(isTerminal: boolean): Promise<ProcessLog> {
  const toLine = isTerminal ? await createPretty() : (line: string) => line;
  const output = new LossyOutput(process.stderr.fd, (dropped) =>
    log.warn(`${dropped} log lines were dropped because they could not be written`),
  );
  process.once("exit", () => output.close());
  const write = (line: string) => output.write(toLine(line));
  const log = createLineLog(write);
  return { log, writeLines: (lines) => lines.forEach(write) };
}

async function createPretty(): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  const pretty = prettyFactory({
    ignore: "requestId,method,path,status,ms,hint",
    messageFormat: (line, messageKey) =>
      line.method === undefined
        ? String(line[messageKey])
        : `${line.method} ${line.path} ${line.status} ${line.ms} ms${line.hint === undefined ? "" : `: ${line.hint}`}`,
  });
  return (line) => pretty(line) ?? "";
}

const maxHeldBytes = 1_048_576;

/** Time between two attempts to write held lines. */
const retryMs = 10;

/** An output to a file descriptor, which must stay open. */
export class LossyOutput {
  readonly #fd: number;
  readonly #isOwnFd: boolean;
  readonly #onResume: (dropped: number) => void;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onResume` is called with the number of dropped lines when writing works again. It can write a line. */
  constructor(fd: number, onResume: (dropped: number) => void) {
    const ownFd = openWithoutBlocking(fd);
    this.#isOwnFd = ownFd !== undefined;
    this.#fd = ownFd ?? fd;
    this.#onResume = onResume;
  }

  /** Writes a line with its line end, holds it, or drops it. Never throws. */
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

  /** Tries once more to write the held lines. */
  close(): void {
    this.#flush();
    clearTimeout(this.#timer);
    if (this.#isOwnFd) closeSync(this.#fd);
  }

  /** After one dropped line, drops all lines until the held ones are written. So the log has a single gap. */
  #hold(bytes: Buffer): void {
    if (this.#dropped > 0 || this.#heldBytes + bytes.length > maxHeldBytes) {
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
      this.#onResume(dropped);
    }
  }

  #writeHeld(): void {
    const [first] = this.#held;
    const bytes = first !== undefined && this.#held.length === 1 ? first : Buffer.concat(this.#held);
    let position = 0;
    try {
      while (position < bytes.length) position += writeSync(this.#fd, bytes, position);
    } catch {} // the next attempt writes the rest
    const rest = bytes.subarray(position);
    this.#held = rest.length > 0 ? [rest] : [];
    this.#heldBytes = rest.length;
  }
}

/**
 * Opens a pipe or terminal again, in non-blocking mode. The mode of the given descriptor is shared with other programs, and
 * any of them can reset it. Returns `undefined` if the system cannot do this. Node has then already set the mode for
 * `process.stderr`.
 */
function openWithoutBlocking(fd: number): number | undefined {
  try {
    if (!fstatSync(fd).isFIFO() && !isatty(fd)) return undefined; // a file would be written from its start
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return undefined;
  }
}
