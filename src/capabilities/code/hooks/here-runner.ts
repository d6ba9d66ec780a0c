/** Runs hooks in the thread of the service, as in an application. Nothing can end a call that does not end itself. */
import type { HookOutput } from "./hook-call.ts";
import type { HookRunner } from "./hook-worker.ts";
import { type CallInput, runCall } from "./run-call.ts";

/** Runs the hooks of a configuration that is in this thread. */
export class HereRunner implements HookRunner {
  readonly #configuration: unknown;

  constructor(configuration: unknown) {
    this.#configuration = configuration;
  }

  async call(place: string, input: CallInput): Promise<HookOutput> {
    return runCall(this.#configuration, place, input);
  }

  async ready(): Promise<void> {}

  isFailing(): boolean {
    return false;
  }

  async stop(): Promise<void> {}
}
