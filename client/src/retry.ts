/** When a request is sent again, and how long that waits. */

/** How often and how soon. */
export interface RetryOptions {
  /** How often a request is sent at most. @default 5 */
  readonly attempts: number;
  /** The wait after the first failure, at most; it doubles with each. @default 200 */
  readonly baseMs: number;
  /** No wait is longer. What the service asks for beyond that is an error at once. @default 20000 */
  readonly maxMs: number;
}

/** Unless the caller says otherwise. */
export const defaultRetry: RetryOptions = { attempts: 5, baseMs: 200, maxMs: 20_000 };

/** Why there is no success. */
export type Failure =
  | { readonly kind: "network" }
  | { readonly kind: "answer"; readonly status: number; readonly code: string | undefined };

/** Whether the same request may be sent again, given that a second effect of it would or would not be harmless. */
export function isWorthRetrying(failure: Failure, isRepeatable: boolean): boolean {
  if (failure.kind === "network") return isRepeatable;
  const { status, code } = failure;
  if (status === 429 || code === "UNAVAILABLE" || code === "IDEMPOTENCY_IN_PROGRESS") return true;
  if (code !== undefined && code !== "OUTCOME_UNKNOWN") return false;
  return isRepeatable && (status === 502 || status === 503 || status === 504);
}

/** Whether the request may have taken effect all the same. */
export function mayHaveHappened(failure: Failure): boolean {
  return failure.kind === "network" || failure.code === undefined || failure.code === "OUTCOME_UNKNOWN";
}

/** How long to wait after so many failures; `undefined` where that is longer than anybody wants to. */
export function waitMs(
  failures: number,
  retryAfter: string | null,
  options: RetryOptions,
): number | undefined {
  const asked = askedMs(retryAfter);
  if (asked > options.maxMs) return undefined;
  return Math.min(options.maxMs, asked + backOffMs(failures, options));
}

/** The client's own wait after so many failures. It varies: clients that failed together must not come back together. */
export function backOffMs(failures: number, { baseMs, maxMs }: RetryOptions): number {
  return Math.min(maxMs, baseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

/** The wait that `Retry-After` asks for: seconds, or a date (RFC 9110 §10.2.3). Without it, 0. */
export function askedMs(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}

/** The longest time that a timer takes, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/** Waits; rejects with the signal's reason when that is aborted first. */
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
