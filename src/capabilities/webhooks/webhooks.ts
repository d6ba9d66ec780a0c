/** The webhooks of one service: consumers of the log that send events to receivers, and what administrators do with them. */
import type { OpenCapability, ThreadWork } from "../../capability.ts";
import { type Backlog, backlogOf, waitingFor } from "../../changes/consume/backlog.ts";
import type { Consumer, ConsumerKind, Handed, Outcome } from "../../changes/consume/consumer.ts";
import type { DeliveryRecord } from "../../changes/consume/consumer-records.ts";
import { ConsumerEngine } from "../../changes/consume/engine.ts";
import { readAgain } from "../../changes/consume/worker.ts";
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import type { Participant } from "../../http/participant.ts";
import type { MetricsSource } from "../../observe/metrics-source.ts";
import { isOvertaken, put, type Versioned } from "../../records.ts";
import {
  outcomeOf,
  reasonToDisable,
  type Sending,
  sendSigned,
  type WebhookOptions,
  type WebhookParts,
} from "./delivery.ts";
import { metricsOf } from "./metrics.ts";
import { Receivers } from "./receivers.ts";
import type { AttemptResult } from "./send.ts";
import { settleWrite } from "./settle.ts";
import { createSecret } from "./signature.ts";
import { misfitOf, naming, viewOfWebhook, type Webhook, webhookCollection, webhooksName } from "./webhook.ts";
import { disabled, putOwn, WebhookRecords } from "./webhook-records.ts";

/** The name of webhooks among the kinds of consumers. */
const kindName = "webhooks";

/** How long the secret before a rotation signs too, in milliseconds. */
const rotationMs = 24 * 3_600_000;

/** How many webhooks there are, and what they still have to deliver. */
export interface WebhookBacklog extends Backlog {
  enabled: number;
  disabled: number;
}

/** A webhook as a consumer of the log. */
interface WebhookConsumer extends Consumer {
  readonly webhook: Webhook;
}

/** An event that an administrator sends. Its body can depend on the webhook. */
interface OwnSending extends Omit<Sending, "webhook" | "state" | "body"> {
  bodyFor: (webhook: Webhook) => string | Promise<string>;
}

/** The webhooks of one service. */
export class Webhooks implements OpenCapability {
  readonly collection: Collection;
  readonly collections: NonNullable<OpenCapability["collections"]>;
  readonly metrics: MetricsSource | undefined;
  readonly #parts: WebhookParts;
  readonly #engine: ConsumerEngine;
  /** Aborted to end the requests to receivers that administrators have started. */
  readonly #stopping = new AbortController();

  constructor(options: WebhookOptions) {
    const { collection, load } = webhookCollection(options);
    this.collection = collection;
    const participant: Participant = {
      load,
      createCollection: () => this.#parts.records.prepare(),
      settle: async (write) => ({
        ...(await settleWrite(this.#parts, write)),
        onCommitted: () => this.wake(),
      }),
    };
    this.collections = [{ ...naming, collection, participant }];
    const { store } = options;
    this.#parts = { ...options, receivers: new Receivers(options), records: new WebhookRecords(store) };
    this.#engine = new ConsumerEngine({ ...this.#parts, kind: this.#kind });
    this.metrics = options.attempts && metricsOf(this, options.attempts, () => options.clock.now());
  }

  /** Encrypts the secrets that the store keeps readable. Throws StartError if a secret is lost. */
  async prepare({ works }: ThreadWork): Promise<void> {
    const { secrets, records, clock } = this.#parts;
    if (works) await secrets.encryptAll(records, { now: () => clock.now() });
  }

  /** Starts the deliveries. */
  start({ works }: ThreadWork): void {
    if (works) this.#engine.start();
  }

  /** Stops the deliveries, and closes the connections to receivers. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#engine.stop();
    this.#parts.receivers.close();
  }

  /** Looks at the webhooks now, because one of them was written. */
  wake(): void {
    this.#engine.wake();
  }

  /** What all webhooks still have to deliver. */
  async backlog(): Promise<WebhookBacklog> {
    const webhooks = (await this.#parts.records.all()).map(({ value }) => value);
    const enabled = webhooks.filter((webhook) => webhook.enabled);
    const counts = { enabled: enabled.length, disabled: webhooks.length - enabled.length };
    if (webhooks.length === 0) return { ...counts, waiting: 0, retrying: 0, dead: 0, oldestAt: undefined };
    return { ...counts, ...(await backlogOf(this.#parts, enabled, webhooks)) };
  }

  /** How the engine of consumers works with webhooks. */
  get #kind(): ConsumerKind<WebhookConsumer> {
    const { records } = this.#parts;
    return {
      name: kindName,
      all: async () => {
        const enabled = (await records.all()).filter(({ value }) => value.enabled);
        return enabled.map((each) => this.#consumerOf(each));
      },
      isCurrent: async ({ id, version }) => (await records.webhook(id))?.version === version,
      misfitOf: ({ webhook }) => misfitOf(webhook, this.#parts),
      handle: (consumer, handed, stopped) => this.#handle(consumer, handed, stopped),
      reasonToDisable,
      disable: ({ webhook, version }) => [disabled({ value: webhook, version })],
    };
  }

  #consumerOf({ value: webhook, version }: Versioned<Webhook>): WebhookConsumer {
    const { id, collections, types } = webhook;
    const viewOf = (name: string) => viewOfWebhook(webhook, name, this.#parts);
    return { id, version, label: `the webhook ${id}`, collections, types, viewOf, webhook };
  }

  #handle(
    { webhook }: WebhookConsumer,
    { event, body, state, mayStart }: Handed,
    stopped: AbortSignal,
  ): Promise<Outcome | undefined> {
    return this.#parts.receivers.inTurn(webhook.url, async () => {
      if (!(await mayStart())) return undefined;
      const sending = { webhook, state, event: event.event, origin: event, body };
      const result = await sendSigned(this.#parts, sending, stopped);
      return result && outcomeOf(result);
    });
  }

  /** A webhook; `undefined` if it does not exist. */
  webhook(id: string): Promise<Versioned<Webhook> | undefined> {
    return this.#parts.records.webhook(id);
  }

  /** The status of the deliveries of a webhook. */
  async status({ value: webhook }: Versioned<Webhook>): Promise<Record<string, unknown>> {
    const { id, enabled } = webhook;
    const { records, feed } = this.#parts;
    const [state, retrying] = await Promise.all([records.state(id), records.retrying(id)]);
    const { lost = 0, lastSuccessAt, lastFailureAt, failingSince, disabledReason } = state?.value ?? {};
    const isDisabled = !enabled || feed === undefined;
    const misfit = isDisabled ? undefined : misfitOf(webhook, this.#parts);
    const reason = feed === undefined ? "The service keeps no history." : enabled ? misfit : disabledReason;
    const isActive = failingSince === undefined && misfit === undefined;
    return {
      state: isDisabled ? "disabled" : isActive ? "active" : "failing",
      ...(reason === undefined ? {} : { reason }),
      retrying: retrying.length,
      waiting: (await waitingFor(this.#parts, [webhook], new Map(state && [[id, state.value]]))).changes,
      lost,
      lastSuccess: timeOf(lastSuccessAt),
      lastFailure: timeOf(lastFailureAt),
    };
  }

  /** The recent deliveries of a webhook, the latest first. */
  async deliveries(id: string, limit: number): Promise<Record<string, unknown>[]> {
    return (await this.#parts.records.deliveries(id, limit)).map(({ value }) => shownDelivery(value));
  }

  /** Sends an event again, now. `undefined` if the webhook has no such delivery. */
  async retry(webhook: Versioned<Webhook>, event: string): Promise<Record<string, unknown> | undefined> {
    const { records, clock } = this.#parts;
    const before = await records.delivery(webhook.value.id, event);
    if (before === undefined) return undefined;
    const bodyFor = (now: Webhook) => this.#bodyAgain(now, before.value);
    const result = await this.#send(webhook, { event, origin: before.value, bodyFor });
    if (result === undefined) return undefined;
    return shownDelivery(await this.#engine.record(before, outcomeOf(result), clock.now()));
  }

  async #bodyAgain(webhook: Webhook, delivery: DeliveryRecord): Promise<string> {
    const misfit = misfitOf(webhook, this.#parts);
    if (misfit !== undefined) throw new Problem("WEBHOOKS_UNAVAILABLE", misfit);
    const again = await readAgain(this.#parts, this.#consumerOf({ value: webhook, version: 0 }), delivery);
    if (again !== undefined) return again.body;
    throw new Problem("WEBHOOKS_UNAVAILABLE", "The history no longer has the change of this event.");
  }

  /** Sends a test event, now. `undefined` if the webhook is deleted before. */
  async test(webhook: Versioned<Webhook>): Promise<Record<string, unknown> | undefined> {
    const { id } = webhook.value;
    const { clock, newUuid, prefix } = this.#parts;
    const event = newUuid();
    const body = JSON.stringify({
      specversion: "1.0",
      id: event,
      source: `${prefix}/${webhooksName}/${id}`,
      type: "holdfast.test",
      time: new Date(clock.now()).toISOString(),
      datacontenttype: "application/json",
      data: { webhook: id },
    });
    const result = await this.#send(webhook, { event, origin: undefined, bodyFor: () => body });
    if (result === undefined) return undefined;
    const { isDelivered, status, milliseconds, response, error } = result;
    return { event, delivered: isDelivered, status, milliseconds, response, error };
  }

  /** Sends an event as the webhook is when its turn comes. `undefined` if the webhook is deleted before. */
  async #send(
    { value: webhook, version }: Versioned<Webhook>,
    { bodyFor, ...sending }: OwnSending,
  ): Promise<AttemptResult | undefined> {
    const { records, receivers } = this.#parts;
    const body = await bodyFor(webhook);
    const sent = await receivers.inTurn(webhook.url, async () => {
      const state = (await records.state(webhook.id))?.value;
      const now = await records.webhook(webhook.id); // after the state, which a rotation changes too
      if (now?.version !== version) return { now };
      return {
        result: await sendSigned(this.#parts, { webhook, state, ...sending, body }, this.#stopping.signal),
      };
    });
    if ("now" in sent) return sent.now && this.#send(sent.now, { ...sending, bodyFor });
    if (sent.result !== undefined) return sent.result;
    throw new Problem("UNAVAILABLE", "The service is stopping. Try again later.");
  }

  /**
   * Gives a webhook a new secret. The previous one signs too for a day. Returns the new one; `undefined` if another write of
   * the webhook or of its state came first.
   */
  async rotate(webhook: Versioned<Webhook>): Promise<string | undefined> {
    const { records, clock, secrets } = this.#parts;
    const { id } = webhook.value;
    const state = await records.state(id);
    const secret = createSecret();
    const now = clock.now();
    const changes = [
      put(webhooksName, id, webhook.version, { ...webhook.value, secret: secrets.keep(id, secret) }),
      putOwn(id, state, {
        oldSecret: secrets.keep(id, webhook.value.secret),
        oldSecretUntil: now + rotationMs,
      }),
    ];
    try {
      await records.commit(changes, now);
    } catch (error) {
      if (isOvertaken(error)) return undefined;
      throw error;
    }
    this.wake();
    return secret;
  }
}

function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** A delivery as administrators see it. */
function shownDelivery(record: DeliveryRecord): Record<string, unknown> {
  const { event, type, state, attempts, at, details, milliseconds, error, nextAt } = record;
  const { status = null, response = "" } = details;
  const next = timeOf(nextAt ?? undefined);
  return { event, type, state, attempts, time: timeOf(at), status, milliseconds, response, error, next };
}
