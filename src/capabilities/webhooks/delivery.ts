/** One attempt to deliver: the signed request with the body of an event, and why a webhook is disabled after it. */
import type { ConsumeParts, Outcome } from "../../changes/consume/consumer.ts";
import type { ConsumerState } from "../../changes/consume/consumer-records.ts";
import type { ChangeOrigin } from "../../observe/origins.ts";
import type { KeptSecrets } from "./kept-secrets.ts";
import type { AttemptDurations } from "./metrics.ts";
import type { ReceiverParts } from "./receivers.ts";
import { type AttemptResult, type SendParts, send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";
import type { Webhook, WebhookRules } from "./webhook.ts";
import { ownOf, type WebhookRecords } from "./webhook-records.ts";

/** Makes spans of the requests to receivers. */
export interface DeliveryTracer {
  /** Sends a request in a span. `send` gets the headers that continue the trace. `origin`: the change; absent for test events. */
  deliver(
    request: { url: string; origin: ChangeOrigin | undefined },
    send: (headers: Record<string, string>) => Promise<AttemptResult | undefined>,
  ): Promise<AttemptResult | undefined>;
}

/** Everything that the webhooks of one service depend on. */
export interface WebhookParts
  extends WebhookRules,
    Omit<SendParts, "clock">,
    Omit<ConsumeParts, "kind" | "records"> {
  records: WebhookRecords;
  secrets: KeptSecrets;
  /** The path of the collections. */
  prefix: string;
  /** Makes a span of each attempt. @default there are no spans */
  tracer?: DeliveryTracer | undefined;
  /** Counts attempts. @default nothing is counted */
  attempts?: AttemptDurations | undefined;
}

/** What a service gives. The rest is made from it. */
export type WebhookOptions = Omit<WebhookParts, "receivers" | "records"> & ReceiverParts;

/** An event to send. */
export interface Sending {
  webhook: Webhook;
  state: ConsumerState | undefined;
  /** The id of the event. */
  event: string;
  /** The change. Absent for a test event. */
  origin: ChangeOrigin | undefined;
  body: string;
}

/** Sends an event with the headers and signatures of a webhook. `undefined` if the signal was aborted before the response. */
export async function sendSigned(
  parts: WebhookParts,
  { webhook, state, event, origin, body }: Sending,
  signal: AbortSignal,
): Promise<AttemptResult | undefined> {
  const now = parts.clock.now();
  const { oldSecret, oldSecretUntil = 0 } = ownOf(state);
  const kept =
    oldSecret !== undefined && now < oldSecretUntil ? [webhook.secret, oldSecret] : [webhook.secret];
  const secrets = kept.map((each) => parts.secrets.read(webhook.id, each));
  const signed = signatureHeaders({ id: event, timestamp: Math.floor(now / 1_000), body }, secrets);
  const { url } = webhook;
  const sendWith = (more: Record<string, string>) =>
    send(parts, { url, headers: { ...more, ...webhook.headers, ...signed }, body }, signal);
  const { tracer } = parts;
  const result = await (tracer === undefined ? sendWith({}) : tracer.deliver({ url, origin }, sendWith));
  if (result !== undefined) parts.attempts?.note(result);
  return result;
}

/** The outcome of an attempt, as consumers know it. */
export function outcomeOf({
  isDelivered,
  milliseconds,
  error,
  retryAfterMs,
  status,
  response,
}: AttemptResult): Outcome {
  return { isDelivered, milliseconds, error, retryAfterMs, details: { status, response } };
}

/** A webhook is disabled if all its attempts fail for this long, in milliseconds. */
export const maxFailingMs = 5 * 24 * 3_600_000;

/** Why the service stops delivering to a webhook after an attempt; `undefined` if it continues. */
export function reasonToDisable(
  { failingSince }: ConsumerState,
  { isDelivered, details }: Outcome,
  at: number,
): string | undefined {
  if (isDelivered) return undefined;
  if (details.status === 410) return "The receiver responded with 410 Gone.";
  const isLong = failingSince !== undefined && at - failingSince >= maxFailingMs;
  return isLong ? "Every delivery of the last five days has failed." : undefined;
}
