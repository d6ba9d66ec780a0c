/** Runs hooks in the thread of the service, as in an application. Nothing can end a call that does not end itself. */
import { functionAt } from "../user-functions.ts";
import { callHook, type HookInput, type HookOutput } from "./hook-call.ts";
import type { HookRunner } from "./hook-worker.ts";

/** Runs the hooks of a configuration that is in this thread. */
export class HereRunner implements HookRunner {
  readonly #configuration: unknown;

  constructor(configuration: unknown) {
    this.#configuration = configuration;
  }

  async call(place: string, input: HookInput): Promise<HookOutput> {
    return callHook(functionAt(this.#configuration, place) as never, input);
  }

  async ready(): Promise<void> {}

  isFailing(): boolean {
    return false;
  }

  async stop(): Promise<void> {}
}
