/** Temporary: runs functions in this thread. */
import type { CodeSettings } from "../settings.ts";
import { functionAt, loadModule } from "../user-functions.ts";
import type { CodeCall, CodeOutcome, CodeRunner } from "../work/code-runner.ts";

export class HereCodeRunner implements CodeRunner {
  readonly #settings: CodeSettings;
  #configuration: Promise<unknown> | undefined;
  constructor(settings: CodeSettings) {
    this.#settings = settings;
  }
  async run({ place, input, clients, timeoutMs, signal }: CodeCall): Promise<CodeOutcome> {
    const { module, functions } = this.#settings;
    this.#configuration ??= module === undefined ? Promise.resolve(functions) : loadModule(module);
    const over = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    try {
      const work = functionAt(await this.#configuration, place) as unknown as (
        call: object,
      ) => Promise<unknown>;
      const value = await Promise.race([
        work({ ...input, ...clients, signal: over }),
        new Promise((_, reject) => over.addEventListener("abort", () => reject(over.reason))),
      ]);
      return { kind: "done", value };
    } catch (error) {
      return { kind: "failed", reason: "throw", message: String((error as Error).stack) };
    }
  }
  async stop(): Promise<void> {}
}
