/** What becomes of a call that goes on although the service stops. */
import type { CodeOutcome } from "./code-runner.ts";

/** How long code has to end after its signal was aborted because the service stops, in milliseconds. */
export const interruptMs = 2_000;

const failed: CodeOutcome = {
  kind: "failed",
  reason: "exit",
  message: "It did not end when its signal was aborted.",
};

/** The outcome of a call, or a failure some time after the signal was aborted. Code that does not look at its own signal is ended later. */
export async function outcomeWithin(
  call: Promise<CodeOutcome>,
  { signal, ms }: { signal: AbortSignal; ms: number },
): Promise<CodeOutcome> {
  const { promise: interrupted, resolve } = Promise.withResolvers<CodeOutcome>();
  const onAbort = () => void setTimeout(() => resolve(failed), ms).unref();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([call, interrupted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
