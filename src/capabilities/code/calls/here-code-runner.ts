/** Runs functions that may wait in the thread of the service, as in an application. Nothing can end a loop there. */
import { functionAt } from "../user-functions.ts";
import { CallTime } from "./call-time.ts";
import type { CodeBounds, CodeCall, CodeOutcome, CodeRunner } from "./code-runner.ts";
import { callUser, optionsFor } from "./user-call.ts";
import { ClientUse, createUserClient } from "./user-client.ts";

/** Runs the functions of a configuration that is in this thread. */
export class HereCodeRunner implements CodeRunner {
  readonly #configuration: unknown;
  readonly #prefix: string;
  readonly #bounds: CodeBounds;
  readonly #stopping = new AbortController();

  /** `prefix`: that of the service. */
  constructor(configuration: unknown, { prefix, bounds }: { prefix: string; bounds: CodeBounds }) {
    this.#configuration = configuration;
    this.#prefix = prefix;
    this.#bounds = bounds;
  }

  async run(call: CodeCall): Promise<CodeOutcome> {
    const { place, input } = call;
    const aborter = new AbortController();
    const use = new ClientUse(place, call.requests ?? this.#bounds.requests);
    const abort = (why: string) => {
      use.end(why);
      aborter.abort(new Error(why));
    };
    const { promise: tooLate, resolve } = Promise.withResolvers<CodeOutcome>();
    const time = new CallTime(call, this.#bounds, { abort, giveUp: resolve });
    const onStop = () => resolve({ kind: "failed", reason: "exit", message: "The service has stopped." });
    this.#stopping.signal.addEventListener("abort", onStop);
    const clients = Object.fromEntries(
      Object.entries(call.clients).map(([name, send]) => [
        name,
        createUserClient(
          (request, signal) => send(request, AbortSignal.any([aborter.signal, ...(signal ? [signal] : [])])),
          use,
          { name, prefix: this.#prefix },
        ),
      ]),
    );
    const argument = { input: structuredClone(input), clients, signal: aborter.signal };
    const outcome = await Promise.race([
      callUser(() => functionAt(this.#configuration, place), argument, optionsFor(place, use)),
      tooLate,
    ]);
    time.stop();
    this.#stopping.signal.removeEventListener("abort", onStop);
    use.end(`The call of ${place} has ended.`);
    return structuredClone(outcome);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
  }
}
