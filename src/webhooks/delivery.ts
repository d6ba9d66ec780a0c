/** One delivery: the body of its event, and the signed request. */
import { eventText, type View } from "../changes/event.ts";
import { viewOfWebhook, type Webhook } from "./collection.ts";
import type { WebhookParts } from "./parts.ts";
import type { DeliveryRecord, WebhookState } from "./records.ts";
import { type Answer, send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";

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

/** Sends an event with the headers and signatures of a webhook. */
export function sendSigned(
  parts: WebhookParts,
  { webhook, state, event, body }: { webhook: Webhook; state: WebhookState; event: string; body: string },
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const now = parts.clock.now();
  const isRotating = state.oldSecret !== undefined && now < (state.oldSecretUntil ?? 0);
  const secrets = isRotating ? [webhook.secret, state.oldSecret as string] : [webhook.secret];
  const signed = signatureHeaders({ id: event, timestamp: Math.floor(now / 1_000), body }, secrets);
  return send(parts, { url: webhook.url, headers: { ...webhook.headers, ...signed }, body }, signal);
}
