/** Webhooks of a running service, over HTTP. */
import { type RunningService, request, requireSuccess } from "../running-service.ts";

/** Every webhook. Throws StartError if the service does not return them. */
export async function fetchWebhooks(service: RunningService): Promise<readonly object[]> {
  return (await call(service, "GET", "?limit=100")) as object[];
}

/** Sends a test event, and returns the response of the receiver. Throws StartError. */
export function requestTest(service: RunningService, id: string): Promise<Record<string, unknown>> {
  return callObject(service, `/${encodeURIComponent(id)}/_test`, `The webhook "${id}"`);
}

/** Sends an event again, and returns its delivery. Throws StartError. */
export function requestRetry(
  service: RunningService,
  { id, event }: { id: string; event: string },
): Promise<Record<string, unknown>> {
  const path = `/${encodeURIComponent(id)}/_deliveries/${encodeURIComponent(event)}/_retry`;
  return callObject(service, path, `The delivery of the event "${event}" to the webhook "${id}"`);
}

async function callObject(service: RunningService, path: string, what: string) {
  return (await call(service, "POST", path, what)) as Record<string, unknown>;
}

async function call(service: RunningService, method: string, path: string, what?: string): Promise<unknown> {
  return requireSuccess(await request(service, { method, path: `/_webhooks${path}` }), service, what);
}
