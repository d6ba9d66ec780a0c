/** Events of Node's test runner on their way to another process. An error can hold what cannot be sent, such as a function. */
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

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
