/** The webhooks of one service, for requests of administrators. `engine.ts` delivers the events. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import { type Backlog, backlogOf } from "./backlog.ts";
import { webhookCollection } from "./collection.ts";
import { Connections } from "./connections.ts";
import { bodyOf, type Sending, sendSigned } from "./delivery.ts";
import { DeliveryEngine } from "./engine.ts";
import { isOvertaken } from "./lease.ts";
import { recordAfter, stateAfter } from "./outcome.ts";
import type { WebhookOptions, WebhookParts } from "./parts.ts";
import { collectionsOf, positionOf } from "./place.ts";
import { type DeliveryRecord, deliveryId, put, type Versioned, type WebhookState } from "./records.ts";
import { misfitOf } from "./rules.ts";
import type { AttemptResult } from "./send.ts";
import { createSecret } from "./signature.ts";
import { deliveriesName, statesName, type Webhook, webhooksName } from "./webhook.ts";
import { type SettledWrite, settleWrite, type WebhookWrite } from "./write.ts";

/** How long the secret before a rotation signs too, in milliseconds. */
const rotationMs = 24 * 3_600_000;

/** The webhooks of one service. */
export class Webhooks {
  readonly collection: Collection;
  /** Loads what the collection needs to validate. */
  readonly load: () => Promise<void>;
  readonly #parts: WebhookParts;
  readonly #engine: DeliveryEngine;

  constructor(options: WebhookOptions) {
    const { collection, load } = webhookCollection(options);
    this.collection = collection;
    this.load = load;
    this.#parts = { ...options, connections: new Connections(options) };
    this.#engine = new DeliveryEngine(this.#parts);
  }

  /** Starts the deliveries. Without a history, all webhooks become disabled instead. */
  start(): void {
    if (this.#parts.feed !== undefined) this.#engine.start();
  }

  /** Stops the deliveries, and closes the connections to receivers. */
  async stop(): Promise<void> {
    await this.#engine.stop();
    this.#parts.connections.close();
  }

  /** Creates the internal collections if they do not exist. */
  prepare(): Promise<void> {
    return this.#parts.records.prepare();
  }

  /** What all webhooks still have to deliver. */
  backlog(): Promise<Backlog> {
    return backlogOf(this.#parts);
  }

  /** Call this after a webhook was written. */
  noteWrite(): void {
    this.#engine.wake();
  }

  /** Completes a write. Throws WEBHOOKS_UNAVAILABLE if the service cannot have another webhook. */
  settle(write: WebhookWrite): Promise<SettledWrite> {
    return settleWrite(this.#parts, write);
  }

  /** A webhook; `undefined` if it does not exist. */
  webhook(id: string): Promise<Versioned<Webhook> | undefined> {
    return this.#parts.records.webhook(id);
  }

  /** The status of the deliveries of a webhook. */
  async status({ value: webhook }: Versioned<Webhook>): Promise<Record<string, unknown>> {
    const { id, enabled } = webhook;
    const { records, feed } = this.#parts;
    const [state, retrying] = await Promise.all([records.state(id), records.deliveriesIn(id, "retrying")]);
    const { lost = 0, lastSuccessAt, lastFailureAt, failingSince, disabledReason } = state?.value ?? {};
    const isDisabled = !enabled || feed === undefined;
    const misfit = isDisabled ? undefined : misfitOf(webhook, this.#parts);
    const reason = feed === undefined ? "The service keeps no history." : enabled ? misfit : disabledReason;
    const isActive = failingSince === undefined && misfit === undefined;
    return {
      state: isDisabled ? "disabled" : isActive ? "active" : "failing",
      ...(reason === undefined ? {} : { reason }),
      retrying: retrying.length,
      waiting: await this.#waiting(webhook, state?.value),
      lost,
      lastSuccess: timeOf(lastSuccessAt),
      lastFailure: timeOf(lastFailureAt),
    };
  }

  /** How many changes the webhook has not reached yet. Its filter can exclude some of them. */
  async #waiting(webhook: Webhook, state: WebhookState | undefined): Promise<number> {
    const names = collectionsOf(webhook, this.#parts);
    const heads = await this.#parts.store.logHeads(names);
    const behind = positionOf(state?.marks ?? {}, names).map(({ collection, sequence }) =>
      Math.max(0, (heads.get(collection)?.sequence ?? 0) - sequence),
    );
    return behind.reduce((sum, each) => sum + each, 0);
  }

  /** The recent deliveries of a webhook, the latest first. */
  async deliveries(id: string, limit: number): Promise<Record<string, unknown>[]> {
    return (await this.#parts.records.deliveries(id, limit)).map(({ value }) => shownDelivery(value));
  }

  /** Sends an event again, now. `undefined` if the webhook has no such delivery. */
  async retry(
    webhook: Versioned<Webhook>,
    event: string,
    signal: AbortSignal,
  ): Promise<Record<string, unknown> | undefined> {
    const { records, clock } = this.#parts;
    const { id } = webhook.value;
    const before = await records.delivery(id, event);
    if (before === undefined) return undefined;
    const misfit = misfitOf(webhook.value, this.#parts);
    if (misfit !== undefined) throw new Problem("WEBHOOKS_UNAVAILABLE", misfit);
    const body = await bodyOf(this.#parts, webhook.value, before.value);
    if (body === undefined)
      throw new Problem("WEBHOOKS_UNAVAILABLE", "The history no longer has the change of this event.");
    const result = await this.#send(webhook.value, { event, origin: before.value, body }, signal);
    return shownDelivery(await this.#record(before, result, clock.now()));
  }

  /**
   * Stores the outcome of a retry that an administrator started. The worker can have tried the same event in the meantime. A success ends the
   * state "failing": the worker of the webhook then starts again, because it knows only the state before.
   */
  async #record(
    before: Versioned<DeliveryRecord>,
    result: AttemptResult,
    at: number,
  ): Promise<DeliveryRecord> {
    const { records, random } = this.#parts;
    const { webhook, event } = before.value;
    const record = recordAfter(before.value, result, { at, random: random() });
    const changes = [put(deliveriesName, deliveryId(webhook, event), before, record)];
    const state = result.isDelivered ? await records.state(webhook) : undefined;
    const endsFailing = state?.value.failingSince !== undefined;
    if (endsFailing) changes.push(put(statesName, webhook, state, stateAfter(state.value, result, at)));
    try {
      await records.commit(changes, at);
      if (endsFailing) this.#engine.restart(webhook);
      return record;
    } catch (error) {
      const now = isOvertaken(error) ? await records.delivery(webhook, event) : undefined;
      if (now === undefined || (now.version === before.version && !endsFailing)) throw error;
      return this.#record(now, result, at);
    }
  }

  /** Sends a test event, now. */
  async test({ value: webhook }: Versioned<Webhook>, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { clock, newUuid, prefix } = this.#parts;
    const event = newUuid();
    const body = JSON.stringify({
      specversion: "1.0",
      id: event,
      source: `${prefix}/${webhooksName}/${webhook.id}`,
      type: "holdfast.test",
      time: new Date(clock.now()).toISOString(),
      datacontenttype: "application/json",
      data: { webhook: webhook.id },
    });
    const result = await this.#send(webhook, { event, origin: undefined, body }, signal);
    const { isDelivered, status = null, milliseconds, response, error = null } = result;
    return { event, delivered: isDelivered, status, milliseconds, response, error };
  }

  async #send(
    webhook: Webhook,
    sending: Omit<Sending, "webhook" | "state">,
    signal: AbortSignal,
  ): Promise<AttemptResult> {
    const state = (await this.#parts.records.state(webhook.id))?.value;
    const result = await this.#engine.receivers.run(webhook.url, () =>
      sendSigned(this.#parts, { webhook, state, ...sending }, signal),
    );
    if (result !== undefined) return result;
    throw new Problem("UNAVAILABLE", "The service is stopping. Try again later.");
  }

  /** Gives a webhook a new secret. The previous one signs too for a day. Returns the new one. */
  async rotate(webhook: Versioned<Webhook>): Promise<string> {
    const { records, clock } = this.#parts;
    const { id, secret: oldSecret } = webhook.value;
    const state = await records.state(id);
    const secret = createSecret();
    const known = state?.value ?? { marks: {}, lost: 0 };
    const now = clock.now();
    await records.commit(
      [
        put(webhooksName, id, webhook, { ...webhook.value, secret }),
        put(statesName, id, state, { ...known, oldSecret, oldSecretUntil: now + rotationMs }),
      ],
      now,
    );
    this.noteWrite();
    return secret;
  }
}

function timeOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** A delivery as administrators see it. */
function shownDelivery(record: DeliveryRecord): Record<string, unknown> {
  const { event, type, state, attempts, at, status, milliseconds, response, error, nextAt } = record;
  const next = timeOf(nextAt ?? undefined);
  return { event, type, state, attempts, time: timeOf(at), status, milliseconds, response, error, next };
}
