/** What a process of tests sends to the runner: events of Node's test runner, whose errors can hold what cannot be sent, and its output. */
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

/**
 * Ends the output of a file, on both streams. Messages and output can arrive in another order than they were sent in, so without it, the
 * output would be taken for that of the next file.
 */
export const endOfOutput = "\0";

/** An event whose error is replaced by its texts. */
export interface SentEvent {
  event: TestEvent;
  error: { message: string; failureType: unknown; printed: string } | undefined;
}

/** An event as it can be sent. */
export function sendable(event: TestEvent): SentEvent {
  const { details } = event.data as { details?: { error?: Error & { failureType?: unknown } } };
  if (details?.error === undefined) return { event, error: undefined };
  const { message, cause, failureType } = details.error;
  return {
    event: withDetails(event, { ...details, error: undefined }),
    error: { message, failureType, printed: inspect(cause ?? details.error, { breakLength: Infinity }) },
  };
}

/** The event that was sent, with an error that prints the same. */
export function received({ event, error }: SentEvent): TestEvent {
  if (error === undefined) return event;
  const { message, failureType, printed } = error;
  const cause = { [inspect.custom]: () => printed };
  const revived = Object.assign(new Error(message, { cause }), { code: "ERR_TEST_FAILURE", failureType });
  const { details } = event.data as { details?: object };
  return withDetails(event, { ...details, error: revived });
}

function withDetails(event: TestEvent, details: object): TestEvent {
  return Object.assign({ ...event }, { data: { ...event.data, details } });
}
