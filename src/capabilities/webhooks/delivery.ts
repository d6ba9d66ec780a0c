/** One delivery: the signed request with the body of its event, what an attempt changes, and when the next one follows. */
import type { CommitWatch } from "../../changes/commit-watch.ts";
import { eventText } from "../../changes/event.ts";
import type { FeedParts } from "../../changes/feed.ts";
import type { Clock } from "../../clock.ts";
import type { ChangeOrigin } from "../../observe/origins.ts";
import type { HistoryStore, ServingStore, Store } from "../../store/port/store.ts";
import type { KeptSecrets } from "./kept-secrets.ts";
import type { Attempts } from "./metrics.ts";
import type { ReceiverParts } from "./receivers.ts";
import { type AttemptResult, type SendParts, send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";
import { viewOfWebhook, type Webhook, type WebhookRules } from "./webhook.ts";
import type { DeliveryRecord, WebhookRecords, WebhookState } from "./webhook-records.ts";

/** Makes spans of the requests to receivers. */
export interface DeliveryTracer {
  /** Sends a request in a span. `send` gets the headers that continue the trace. `origin`: the change; absent for test events. */
  deliver(
    request: { url: string; origin: ChangeOrigin | undefined },
    send: (headers: Record<string, string>) => Promise<AttemptResult | undefined>,
  ): Promise<AttemptResult | undefined>;
}

/** The feed that webhooks read. */
export type WebhookFeed = FeedParts & { watch: CommitWatch };

/** Everything that the webhooks of one service depend on. */
export interface WebhookParts extends WebhookRules, SendParts {
  store: ServingStore & HistoryStore & Pick<Store, "time">;
  records: WebhookRecords;
  secrets: KeptSecrets;
  /** Absent if the store keeps no history. */
  feed: WebhookFeed | undefined;
  clock: Clock;
  /** From 0 to 1. */
  random: () => number;
  /** The path of the collections. */
  prefix: string;
  /** The names of all collections, for webhooks with `["*"]`. */
  collectionNames: () => readonly string[];
  /** Whether the store can be used. */
  isReady: () => boolean;
  /** Whether several instances can use the store at the same time. */
  isShared: boolean;
  newUuid: () => string;
  /** Makes a span of each attempt. @default there are no spans */
  tracer?: DeliveryTracer | undefined;
  /** Counts attempts. @default nothing is counted */
  attempts?: Attempts | undefined;
  warn: (message: string) => void;
}

/** What a service gives. The rest is made from it. */
export type WebhookOptions = Omit<WebhookParts, "receivers" | "records"> & ReceiverParts;

/** An event to send. */
export interface Sending {
  webhook: Webhook;
  state: WebhookState | undefined;
  /** The id of the event. */
  event: string;
  /** The change. Absent for a test event. */
  origin: ChangeOrigin | undefined;
  body: string;
}

/** The body of an event that was tried before; `undefined` if the log no longer has its change. */
export async function bodyOf(
  parts: WebhookParts,
  webhook: Webhook,
  { collection, sequence, kind }: Attempted,
): Promise<string | undefined> {
  const view = viewOfWebhook(webhook, collection, parts);
  const { changes } = await parts.store.changesAfter(collection, sequence - 1, 1);
  const [change] = changes;
  if (view === undefined || parts.feed === undefined || change?.sequence !== sequence) return undefined;
  return eventText(parts.feed, view, change, kind);
}

/** Sends an event with the headers and signatures of a webhook. `undefined` if the signal was aborted before the response. */
export async function sendSigned(
  parts: WebhookParts,
  { webhook, state, event, origin, body }: Sending,
  signal: AbortSignal,
): Promise<AttemptResult | undefined> {
  const now = parts.clock.now();
  const isRotating = state?.oldSecret !== undefined && now < (state.oldSecretUntil ?? 0);
  const kept = isRotating ? [webhook.secret, state.oldSecret as string] : [webhook.secret];
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

/** The event of a delivery, before or after attempts. */
export type Attempted = Pick<
  DeliveryRecord,
  "webhook" | "event" | "type" | "collection" | "sequence" | "kind" | "attempts"
>;

/** The record after one more attempt. */
export function recordAfter(
  event: Attempted,
  { isDelivered, status, milliseconds, response, error, retryAfterMs }: AttemptResult,
  { at, random }: { at: number; random: number },
): DeliveryRecord {
  const attempts = event.attempts + 1;
  const wait = isDelivered ? undefined : waitAfter(attempts, random, retryAfterMs);
  return {
    ...event,
    state: isDelivered ? "delivered" : wait === undefined ? "dead" : "retrying",
    attempts,
    at,
    status,
    milliseconds,
    response,
    error,
    nextAt: wait === undefined ? null : at + wait,
  };
}

/** The state of a webhook after an attempt. */
export function stateAfter(state: WebhookState, { isDelivered }: AttemptResult, at: number): WebhookState {
  if (isDelivered) return { ...state, lastSuccessAt: at, failingSince: undefined };
  return { ...state, lastFailureAt: at, failingSince: state.failingSince ?? at };
}

/** A webhook is disabled if all its attempts fail for this long, in milliseconds. */
export const maxFailingMs = 5 * 24 * 3_600_000;

/** Why the service stops delivering to a webhook after an attempt; `undefined` if it continues. */
export function reasonToDisable(
  { failingSince }: WebhookState,
  { isDelivered, status }: AttemptResult,
  at: number,
): string | undefined {
  if (isDelivered) return undefined;
  if (status === 410) return "The receiver responded with 410 Gone.";
  const isLong = failingSince !== undefined && at - failingSince >= maxFailingMs;
  return isLong ? "Every delivery of the last five days has failed." : undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The waits before the retries, in milliseconds. After the last one, a delivery is dead. */
export const retryWaits: readonly number[] = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** A wait is up to this part longer or shorter, so that failed deliveries do not come back all at once. */
const jitter = 0.2;

/** A receiver can put a retry off by at most this, in milliseconds. */
export const longestRetryAfterMs = 24 * hourMs;

/**
 * The wait after this number of failed attempts, in milliseconds; `undefined` if no retry follows. `random` is from 0 to 1.
 * A receiver that asks for a longer wait (Retry-After) gets it.
 */
export function waitAfter(attempts: number, random: number, retryAfterMs = 0): number | undefined {
  const wait = retryWaits[attempts - 1];
  if (wait === undefined) return undefined;
  const spread = Math.round(wait * (1 - jitter + 2 * jitter * random));
  return Math.max(spread, Math.min(retryAfterMs, longestRetryAfterMs));
}
