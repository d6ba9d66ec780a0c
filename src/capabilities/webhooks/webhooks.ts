/** The webhooks of one service, for requests of administrators. `delivery-engine.ts` delivers the events. */
import type { OpenCapability, ThreadWork } from "../../capability.ts";
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import type { Participant } from "../../http/participant.ts";
import type { MetricsSource } from "../../observe/metrics-source.ts";
import { isOvertaken, put, type Versioned } from "../../records.ts";
import {
  bodyOf,
  recordAfter,
  type Sending,
  sendSigned,
  stateAfter,
  type WebhookOptions,
  type WebhookParts,
} from "./delivery.ts";
import { DeliveryEngine } from "./delivery-engine.ts";
import { collectionsOf } from "./event-reader.ts";
import { metricsOf } from "./metrics.ts";
import { Receivers } from "./receivers.ts";
import type { AttemptResult } from "./send.ts";
import { settleWrite } from "./settle.ts";
import { createSecret } from "./signature.ts";
import {
  deliveriesName,
  misfitOf,
  naming,
  statesName,
  type Webhook,
  webhookCollection,
  webhooksName,
} from "./webhook.ts";
import {
  type DeliveryRecord,
  deliveryId,
  putState,
  WebhookRecords,
  type WebhookState,
} from "./webhook-records.ts";

/** How long the secret before a rotation signs too, in milliseconds. */
const rotationMs = 24 * 3_600_000;

/** What all webhooks of a service still have to deliver. All instances on a store find the same. */
export interface Backlog {
  enabled: number;
  disabled: number;
  /** Changes that the enabled webhooks have not reached yet. Their filters can exclude some of them. */
  waiting: number;
  /** Failed deliveries that are tried again. */
  retrying: number;
  /** Failed deliveries that are given up, and are still in the store. */
  dead: number;
  /** The time of the oldest change among `waiting` and `retrying`, as Unix time in milliseconds; `undefined` without one. */
  oldestAt: number | undefined;
}

/** The most collections whose oldest change is looked up. */
const maxLookups = 100;

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
  readonly #engine: DeliveryEngine;
  /** Aborted to end the requests to receivers that administrators have started. */
  readonly #stopping = new AbortController();

  constructor(options: WebhookOptions) {
    const { collection, load } = webhookCollection(options);
    this.collection = collection;
    const participant: Participant = {
      load,
      prepare: () => this.#parts.records.prepare(),
      settle: async (write) => ({
        ...(await settleWrite(this.#parts, write)),
        onCommitted: () => this.wake(),
      }),
    };
    this.collections = [{ ...naming, collection, participant }];
    const { store } = options;
    this.#parts = { ...options, receivers: new Receivers(options), records: new WebhookRecords(store) };
    this.#engine = new DeliveryEngine(this.#parts);
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
  async backlog(): Promise<Backlog> {
    const { records } = this.#parts;
    const webhooks = (await records.all()).map(({ value }) => value);
    const enabled = webhooks.filter((webhook) => webhook.enabled);
    const waiting = await this.#waiting(enabled, enabled.length === 0 ? new Map() : await records.states());
    const [oldestAt, deliveries] = await Promise.all([
      this.#oldestOf(waiting.after),
      webhooks.length === 0 ? new Map<string, number>() : records.deliveriesByState(),
    ]);
    return {
      enabled: enabled.length,
      disabled: webhooks.length - enabled.length,
      waiting: waiting.changes,
      retrying: deliveries.get("retrying") ?? 0,
      dead: deliveries.get("dead") ?? 0,
      oldestAt,
    };
  }

  /** How many changes webhooks have not reached yet, and the sequence before the oldest pending change of each collection. */
  async #waiting(
    webhooks: readonly Webhook[],
    states: ReadonlyMap<string, WebhookState>,
  ): Promise<{ changes: number; after: ReadonlyMap<string, number> }> {
    const names = new Set(webhooks.flatMap((webhook) => collectionsOf(webhook, this.#parts)));
    const heads = webhooks.length === 0 ? new Map() : await this.#parts.store.logHeads([...names]);
    let changes = 0;
    const after = new Map<string, number>();
    for (const webhook of webhooks) {
      const { marks = {}, owes = {} } = states.get(webhook.id) ?? {};
      for (const name of collectionsOf(webhook, this.#parts)) {
        const head = heads.get(name)?.sequence ?? 0;
        const reached = marks[name]?.[0] ?? 0;
        changes += Math.max(0, head - reached);
        const pending = Math.min(reached, owes[name] ?? reached);
        if (pending < head) after.set(name, Math.min(pending, after.get(name) ?? pending));
      }
    }
    return { changes, after };
  }

  async #oldestOf(after: ReadonlyMap<string, number>): Promise<number | undefined> {
    const { store } = this.#parts;
    const lookups = [...after].slice(0, maxLookups).map(([name, place]) => store.changeAt(name, place + 1));
    const times = (await Promise.all(lookups)).flatMap((change) => change?.at ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
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
      waiting: (await this.#waiting([webhook], new Map(state && [[id, state.value]]))).changes,
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
    return result && shownDelivery(await this.#record(before, result, clock.now()));
  }

  async #bodyAgain(webhook: Webhook, delivery: DeliveryRecord): Promise<string> {
    const misfit = misfitOf(webhook, this.#parts);
    if (misfit !== undefined) throw new Problem("WEBHOOKS_UNAVAILABLE", misfit);
    const body = await bodyOf(this.#parts, webhook, delivery);
    if (body !== undefined) return body;
    throw new Problem("WEBHOOKS_UNAVAILABLE", "The history no longer has the change of this event.");
  }

  /**
   * Stores the outcome of a retry that an administrator started. The worker can have tried the same event in the meantime, and the webhook can
   * be deleted. A success ends the state "failing": the worker of the webhook then starts again, because it knows only the state before.
   */
  async #record(
    before: Versioned<DeliveryRecord>,
    result: AttemptResult,
    at: number,
  ): Promise<DeliveryRecord> {
    const { records, random } = this.#parts;
    const { webhook, event } = before.value;
    const record = recordAfter(before.value, result, { at, random: random() });
    const changes = [put(deliveriesName, deliveryId(webhook, event), before.version, record)];
    const state = result.isDelivered ? await records.state(webhook) : undefined;
    const endsFailing = state?.value.failingSince !== undefined;
    if (endsFailing)
      changes.push(put(statesName, webhook, state.version, stateAfter(state.value, result, at)));
    try {
      await records.commit(changes, at);
      if (endsFailing) this.#engine.restart(webhook);
      return record;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      const now = await records.delivery(webhook, event);
      return now === undefined ? record : this.#record(now, result, at);
    }
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
      putState(id, state, {
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
  const { event, type, state, attempts, at, status, milliseconds, response, error, nextAt } = record;
  const next = timeOf(nextAt ?? undefined);
  return { event, type, state, attempts, time: timeOf(at), status, milliseconds, response, error, next };
}
