/** Prints the tests of files that run at the same time: each file as a block after its end. */
import { spec, type TestEvent } from "node:test/reporters";

/** One running file. */
export interface Block {
  print(event: TestEvent): void;
  /** The file has ended. */
  end(): void;
}

/** Prints to standard output as Node's test runner does. */
export class Printer {
  readonly #output = new spec();
  readonly #isLive: boolean;
  #isSilent = false;

  /** `isLive`: print each test at once, and not after its file has ended. Then only one file can run at a time. */
  constructor({ isLive }: { isLive: boolean }) {
    this.#isLive = isLive;
    this.#output.pipe(process.stdout, { end: false });
  }

  /** Begins a file. */
  begin(): Block {
    let held: TestEvent[] = [];
    const open: TestEvent[] = [];
    return {
      print: (event) => {
        if (isCount(event)) return;
        if (event.type === "test:start") open.push(event);
        if (event.type === "test:pass" || event.type === "test:fail") open.pop();
        if (this.#isLive) this.#output.write(event);
        else held.push(event);
      },
      end: () => {
        // A file whose process has ended in the middle leaves tests that have only started.
        for (const event of held) if (!open.includes(event)) this.#output.write(event);
        held = [];
      },
    };
  }

  /** Prints the failures of all files again, and how long all of them took. */
  async close(durationMs: number): Promise<void> {
    const message = `duration_ms ${durationMs.toFixed(0)}`;
    this.#output.write({ type: "test:diagnostic", data: { nesting: 0, message } });
    this.#output.end();
    await new Promise((resolve) => this.#output.once("end", resolve));
  }

  /** Prints a line at once, in the middle of a run. */
  say(text: string): void {
    if (!this.#isSilent) process.stdout.write(`${text}\n`);
  }

  /** Stops all output. */
  silence(): void {
    this.#isSilent = true;
    this.#output.unpipe().resume();
  }
}

/** Node's test runner counts the tests of each file. The end of a run has the sums. */
function isCount({ type, data }: TestEvent): boolean {
  if (type === "test:summary") return true;
  return (
    type === "test:diagnostic" &&
    data.file === undefined &&
    /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(data.message)
  );
}
