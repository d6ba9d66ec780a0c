/** Decides whether a failed request is sent again, and how long to wait before. It sends nothing. */

/** The options of retries. */
export interface RetryOptions {
  /** The most attempts of one request. @default 5 */
  readonly attempts: number;
  /** The longest wait after the first failure, in milliseconds. It doubles with each failure. @default 200 */
  readonly baseMs: number;
  /** The longest wait, in milliseconds. If the service asks for a longer wait, the call fails at once. @default 20000 */
  readonly maxMs: number;
}

/** The options of retries without a configuration. */
export const defaultRetry: RetryOptions = { attempts: 5, baseMs: 200, maxMs: 20_000 };

/** How an attempt failed. */
export type Failure =
  | { readonly kind: "network" }
  | { readonly kind: "answer"; readonly status: number; readonly code: string | undefined };

/** Whether to send the request again. `isRepeatable`: a second effect of the request would do no harm. */
export function isWorthRetrying(failure: Failure, isRepeatable: boolean): boolean {
  if (failure.kind === "network") return isRepeatable;
  const { status, code } = failure;
  if (status === 429 || code === "UNAVAILABLE" || code === "IDEMPOTENCY_IN_PROGRESS") return true;
  if (code !== undefined && code !== "OUTCOME_UNKNOWN") return false;
  return isRepeatable && (status === 502 || status === 503 || status === 504);
}

/** Whether the failed request may have taken effect. A proxy that limits requests does not pass them on. */
export function mayHaveHappened(failure: Failure): boolean {
  if (failure.kind === "network") return true;
  const { status, code } = failure;
  return (code === undefined && status !== 429) || code === "OUTCOME_UNKNOWN";
}

/** The wait after this number of failures, in milliseconds; `undefined` if the service asks for more than `maxMs`. */
export function waitMs(
  failures: number,
  retryAfter: string | null,
  options: RetryOptions,
): number | undefined {
  const asked = askedMs(retryAfter);
  if (asked > options.maxMs) return undefined;
  return Math.min(options.maxMs, asked + backOffMs(failures, options));
}

/** The client's own wait after this number of failures. It is random, so that clients that failed together do not return together. */
export function backOffMs(failures: number, { baseMs, maxMs }: RetryOptions): number {
  return Math.min(maxMs, baseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

/** The wait that `Retry-After` asks for, as seconds or as a date (RFC 9110 §10.2.3), in milliseconds. 0 without the header. */
export function askedMs(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}

/** The longest time that a timer accepts, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/** Waits. Rejects with the reason of the signal if the signal is aborted first. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
      Math.min(ms, maxTimerMs),
    );
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}
