/** How long one call can take: first its signal is aborted, and if it does not end soon after that, it has failed. */
import type { ServiceClock } from "../../../clock.ts";
import type { CodeBounds, CodeCall, CodeOutcome } from "./code-runner.ts";

/** What becomes of a call that takes too long. */
interface Steps {
  /** Aborts the signal of the function. Called at most once. */
  abort(why: string): void;
  /** The call has failed. */
  giveUp(outcome: CodeOutcome): void;
}

/** Watches the time of one call, from now on. */
export class CallTime {
  readonly #call: CodeCall;
  readonly #bounds: CodeBounds;
  readonly #steps: Steps & Pick<ServiceClock, "startTimer">;
  #cancelTimer: () => void;
  #isAborted = false;
  readonly #onSignal = () => this.#endEarly();

  constructor(call: CodeCall, bounds: CodeBounds, steps: Steps & Pick<ServiceClock, "startTimer">) {
    const { place, timeoutMs, signal } = call;
    this.#call = call;
    this.#bounds = bounds;
    this.#steps = steps;
    this.#cancelTimer = steps.startTimer(timeoutMs, () =>
      this.#end(`${place} has taken longer than ${timeoutMs} ms.`),
    );
    if (signal?.aborted) this.#onSignal();
    signal?.addEventListener("abort", this.#onSignal);
  }

  /** The call has ended. */
  stop(): void {
    this.#cancelTimer();
    this.#call.signal?.removeEventListener("abort", this.#onSignal);
  }

  /** A client that goes away costs no worker, because the calls of others are in it: the call keeps its time. */
  #endEarly(): void {
    const why = whyAborted(this.#call.signal);
    if (why === undefined) this.#abortOnce("The client of the request has gone away.");
    else if (!this.#isAborted) this.#end(why);
  }

  #end(message: string): void {
    this.#abortOnce(message);
    this.#cancelTimer();
    const { startTimer, giveUp } = this.#steps;
    const { graceMs } = this.#bounds;
    this.#cancelTimer = startTimer(graceMs, () => giveUp({ kind: "failed", reason: "time", message }));
  }

  #abortOnce(why: string): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#steps.abort(why);
  }
}

/** The failure of a call whose signal was aborted for a reason before its function was called; `undefined` if the function should be called. */
export function endedBefore({ signal }: CodeCall): CodeOutcome | undefined {
  const message = signal?.aborted ? whyAborted(signal) : undefined;
  return message === undefined ? undefined : { kind: "failed", reason: "time", message };
}

/** The sentence of an Error that is the reason of a signal; `undefined` if a client has gone away, whose signal has no such reason. */
function whyAborted(signal: AbortSignal | undefined): string | undefined {
  const reason: unknown = signal?.reason;
  return reason instanceof Error && reason.name === "Error" ? reason.message : undefined;
}
