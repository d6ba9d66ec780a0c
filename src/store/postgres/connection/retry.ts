/** Work that is done a second time where the first found the connection lost, or the server not the right one any more. */
import { failureOf } from "./failures.ts";

/** What took longer to be lost is not tried again: whoever asked has waited long enough. In milliseconds. */
const quickMs = 1_500;

/** Whether a loss was found so quickly that another try costs little. `since`: when the work began, by `performance.now`. */
export function isQuickLoss(error: unknown, since: number): boolean {
  const failure = failureOf(error);
  return (failure === "lost" || failure === "readOnly") && performance.now() - since < quickMs;
}

/** Does what changes nothing, or does no harm when it is done twice; and once more after a quick loss. */
export async function retryOnce<T>(work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  try {
    return await work();
  } catch (error) {
    if (!isQuickLoss(error, since)) throw error;
    return work();
  }
}
