/** Runs functions that may wait in the thread of the service, as in an application. Nothing can end a loop there. */
import type { ServiceClock } from "../../../clock.ts";
import { serviceStopped } from "../failure.ts";
import { functionAt } from "../user-functions.ts";
import { CallTime, endedBefore } from "./call-time.ts";
import type { CodeBounds, CodeCall, CodeOutcome, CodeRunner } from "./code-runner.ts";
import { callUser, optionsFor } from "./user-call.ts";
import { ClientUse, createUserClient } from "./user-client.ts";

/** What such functions run with. */
interface HereOptions {
  /** That of the service. */
  prefix: string;
  bounds: CodeBounds;
  /** Measures the time of calls. */
  clock: Pick<ServiceClock, "startTimer">;
}

/** Runs the functions of a configuration that is in this thread. */
export class HereCodeRunner implements CodeRunner {
  readonly #configuration: unknown;
  readonly #options: HereOptions;
  readonly #stopping = new AbortController();

  constructor(configuration: unknown, options: HereOptions) {
    this.#configuration = configuration;
    this.#options = options;
  }

  async run(call: CodeCall): Promise<CodeOutcome> {
    const ended = this.#stopping.signal.aborted ? serviceStopped : endedBefore(call);
    if (ended !== undefined) return ended;
    const { place, input } = call;
    const { prefix, bounds, clock } = this.#options;
    const aborter = new AbortController();
    const use = new ClientUse(place, call.requests ?? bounds.requests);
    const abort = (why: string) => {
      use.end(why);
      aborter.abort(new Error(why));
    };
    const { promise: tooLate, resolve } = Promise.withResolvers<CodeOutcome>();
    const time = new CallTime(call, bounds, { startTimer: clock.startTimer, abort, giveUp: resolve });
    const onStop = () => {
      resolve(serviceStopped);
      abort(serviceStopped.message);
    };
    this.#stopping.signal.addEventListener("abort", onStop);
    const clients = Object.fromEntries(
      Object.entries(call.clients).map(([name, send]) => [
        name,
        createUserClient(
          (request, signal) => send(request, AbortSignal.any([aborter.signal, ...(signal ? [signal] : [])])),
          use,
          { name, prefix },
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
    use.end(`The call of ${place} has ended. Await each request in the function.`);
    return structuredClone(outcome);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
  }
}
