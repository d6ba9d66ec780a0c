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
  readonly #abort: (why: string) => void;
  #cancelTimer: () => void;
  #isAborted = false;
  readonly #onSignal = () => this.#abortOnce(whyAborted(this.#call.signal));

  constructor(
    call: CodeCall,
    { graceMs }: CodeBounds,
    { startTimer, abort, giveUp }: Steps & Pick<ServiceClock, "startTimer">,
  ) {
    const { place, timeoutMs, signal } = call;
    this.#call = call;
    this.#abort = abort;
    this.#cancelTimer = startTimer(timeoutMs, () => {
      const message = `${place} has taken longer than ${timeoutMs} ms.`;
      this.#abortOnce(message);
      this.#cancelTimer = startTimer(graceMs, () => giveUp({ kind: "failed", reason: "time", message }));
    });
    if (signal?.aborted) this.#onSignal();
    signal?.addEventListener("abort", this.#onSignal);
  }

  /** The call has ended. */
  stop(): void {
    this.#cancelTimer();
    this.#call.signal?.removeEventListener("abort", this.#onSignal);
  }

  #abortOnce(why: string): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#abort(why);
  }
}

/** The sentence of an Error that is the reason of a signal. A signal without a reason is that of a client. */
function whyAborted(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason;
  return reason instanceof Error && reason.name === "Error"
    ? reason.message
    : "The client of the request has gone away.";
}
