/** Runs hooks in the thread of the service, as in an application and in a test. Nothing can end a call that does not end itself. */
import type { HookOutput } from "./hook-call.ts";
import type { HookRunner } from "./hook-worker.ts";
import { type CallInput, runCall } from "./run-call.ts";

/** Runs the hooks of a configuration that is in this thread. */
export class HereRunner implements HookRunner {
  readonly #configuration: unknown;
  readonly #hookMs: number | undefined;

  /** `hookMs`: a call that has taken longer has failed, in milliseconds of processor time. `undefined`: it can take as long as it does. */
  constructor(configuration: unknown, hookMs: number | undefined) {
    this.#configuration = configuration;
    this.#hookMs = hookMs;
  }

  async call(place: string, input: CallInput): Promise<HookOutput> {
    const run = () => runCall(this.#configuration, place, input);
    if (this.#hookMs === undefined) return run();
    const taken = stopwatch();
    const output = run();
    if (taken() <= this.#hookMs) return output;
    return { kind: "failed", reason: "time", message: `It took longer than ${this.#hookMs} ms.` };
  }

  async ready(): Promise<void> {}

  isFailing(): boolean {
    return false;
  }

  async stop(): Promise<void> {}
}

/**
 * Measures the processor time of this thread from now on, in milliseconds. A busy machine does not lengthen it. Where it is measured roughly, as
 * on Windows, it can be more than the time that has passed, which then counts.
 */
function stopwatch(): () => number {
  const begun = performance.now();
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return Math.min((user + system) / 1_000, performance.now() - begun);
  };
}
