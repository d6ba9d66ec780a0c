/** Prints the tests of files that run side by side: each file as a block, in the order in which the files began. */
import { spec, type TestEvent } from "node:test/reporters";

/** One file that runs. */
export interface Block {
  print(event: TestEvent): void;
  /** The file has ended: the next one can be printed. */
  end(): void;
}

/** Prints to standard output as Node's test runner does. */
export class Printer {
  readonly #output = new spec();
  readonly #blocks: { events: TestEvent[]; hasEnded: boolean }[] = [];

  constructor() {
    this.#output.pipe(process.stdout, { end: false });
  }

  /** Begins a block. Only the first block that has not ended is printed at once. */
  begin(): Block {
    const block = { events: [] as TestEvent[], hasEnded: false };
    this.#blocks.push(block);
    return {
      print: (event) => {
        if (isCount(event)) return;
        block.events.push(event);
        this.#drain();
      },
      end: () => {
        block.hasEnded = true;
        this.#drain();
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

  /** Prints nothing any more. */
  silence(): void {
    this.#output.unpipe().resume();
  }

  #drain(): void {
    for (let first = this.#blocks[0]; first !== undefined; first = this.#blocks[0]) {
      for (const event of first.events.splice(0)) this.#output.write(event);
      if (!first.hasEnded) return;
      this.#blocks.shift();
    }
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
