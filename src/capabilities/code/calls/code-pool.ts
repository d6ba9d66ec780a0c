/** Several runners, which share the calls. */
import type { CodeCall, CodeOutcome, CodeRunner } from "./code-runner.ts";

interface Member {
  readonly runner: CodeRunner;
  running: number;
}

/** Gives each call to the runner that has the fewest calls in progress. */
export class CodePool implements CodeRunner {
  readonly #members: readonly Member[];

  /** At least one runner. */
  constructor(runners: readonly CodeRunner[]) {
    this.#members = runners.map((runner) => ({ runner, running: 0 }));
  }

  async run(call: CodeCall): Promise<CodeOutcome> {
    const member = this.#members.reduce((best, each) => (each.running < best.running ? each : best));
    member.running++;
    try {
      return await member.runner.run(call);
    } finally {
      member.running--;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ runner }) => runner.stop()));
  }
}
