/** One delivery: the body of its event, and the signed request. */
import { eventText, type View } from "../changes/event.ts";
import type { EventOrigin, WebhookParts } from "./parts.ts";
import type { DeliveryRecord, WebhookState } from "./records.ts";
import { viewOfWebhook } from "./rules.ts";
import { type AttemptResult, send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";
import type { Webhook } from "./webhook.ts";

/** The body of an event that was tried before; `undefined` if the log no longer has its change. */
export async function bodyOf(
  parts: WebhookParts,
  webhook: Webhook,
  { collection, sequence, kind }: Pick<DeliveryRecord, "collection" | "sequence" | "kind">,
): Promise<string | undefined> {
  const view: View | undefined = viewOfWebhook(webhook, collection, parts);
  const { changes } = await parts.store.changesAfter(collection, sequence - 1, 1);
  const [change] = changes;
  if (view === undefined || parts.feed === undefined || change?.sequence !== sequence) return undefined;
  return eventText(parts.feed, view, change, kind);
}

/** An event to send. */
export interface Sending {
  webhook: Webhook;
  state: WebhookState | undefined;
  /** The id of the event. */
  event: string;
  /** Absent for a test event. */
  origin: EventOrigin | undefined;
  body: string;
}

/** Sends an event with the headers and signatures of a webhook. */
export async function sendSigned(
  parts: WebhookParts,
  { webhook, state, event, origin, body }: Sending,
  signal: AbortSignal,
): Promise<AttemptResult | undefined> {
  const now = parts.clock.now();
  const isRotating = state?.oldSecret !== undefined && now < (state.oldSecretUntil ?? 0);
  const secrets = isRotating ? [webhook.secret, state.oldSecret as string] : [webhook.secret];
  const signed = signatureHeaders({ id: event, timestamp: Math.floor(now / 1_000), body }, secrets);
  const { url } = webhook;
  const sendWith = (more: Record<string, string>) =>
    send(parts, { url, headers: { ...more, ...webhook.headers, ...signed }, body }, signal);
  const { tracer } = parts;
  const result = await (tracer === undefined ? sendWith({}) : tracer.deliver({ url, origin }, sendWith));
  if (result !== undefined) parts.onAttempt?.(result);
  return result;
}
