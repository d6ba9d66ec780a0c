/** How SIGINT and SIGTERM interrupt a command that writes all or nothing, or that can continue later. */

/** 128 and the number of SIGINT, as shells expect. */
const interruptedExitCode = 130;

/**
 * Passes `work` a signal that SIGINT and SIGTERM abort. If the work ends with the reason of the signal, prints a line that
 * ends with `consequence`, and sets the exit code to 130. A second SIGINT or SIGTERM ends the process.
 */
export async function interruptible(
  consequence: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  try {
    await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted || error !== controller.signal.reason) throw error;
    process.stderr.write(`holdfast: interrupted; ${consequence}\n`);
    process.exitCode = interruptedExitCode;
  }
}
