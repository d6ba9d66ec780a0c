/** The webhooks of one service: what requests of administrators do with them. */
import type { Collection } from "../collection/collection.ts";
import { Problem } from "../errors.ts";
import type { Change } from "../store/commit.ts";
import type { Key } from "../store/stored.ts";
import {
  deliveriesName,
  maxWebhooks,
  statesName,
  type Webhook,
  webhookCollection,
  webhooksName,
  withWebhookDefaults,
} from "./collection.ts";
import { bodyOf, sendSigned } from "./delivery.ts";
import { DeliveryEngine } from "./engine.ts";
import { recordAfter } from "./outcome.ts";
import type { WebhookParts } from "./parts.ts";
import { collectionsOf, owedAt, placeNow, positionOf } from "./place.ts";
import {
  type DeliveryRecord,
  deliveryId,
  put,
  remove,
  type Versioned,
  type WebhookState,
} from "./records.ts";
import type { Answer } from "./send.ts";
import { createSecret } from "./signature.ts";

/** A write of one webhook, before it is committed. */
export interface WebhookWrite {
  key: Key;
  /** Its text; `undefined` if it does not exist. */
  current: string | undefined;
  /** Its next text; `undefined` deletes it. */
  next: string | undefined;
  /** The attributes that the request names. */
  named: ReadonlySet<string>;
}

/** What a write of a webhook becomes. */
export interface SettledWrite {
  /** `undefined` if it is deleted. */
  next: string | undefined;
  /** Further changes of the same commit. */
  changes: readonly Change[];
  /** A secret that the service has made, which only this response tells. */
  secret: string | undefined;
}

/** How long the secret before a rotation signs too, in milliseconds. */
const rotationMs = 24 * 3_600_000;

/** The webhooks of one service. */
export class Webhooks {
  readonly collection: Collection;
  /** Loads what the collection needs to validate. */
  readonly load: () => Promise<void>;
  readonly #parts: WebhookParts;
  readonly #engine: DeliveryEngine;

  constructor(parts: WebhookParts) {
    const { collection, load } = webhookCollection(parts);
    this.collection = collection;
    this.load = load;
    this.#parts = parts;
    this.#engine = new DeliveryEngine(parts);
  }

  /** Starts the deliveries. Without a history, all webhooks become disabled instead. */
  start(): void {
    if (this.#parts.feed !== undefined) this.#engine.start();
  }

  /** Stops the deliveries. */
  stop(): Promise<void> {
    return this.#engine.stop();
  }

  /** Creates the internal collections if they do not exist. */
  prepare(): Promise<void> {
    return this.#parts.records.prepare();
  }

  /** Call this after a webhook was written. */
  noteWrite(): void {
    this.#engine.wake();
  }

  /** Completes a write. Throws WEBHOOKS_UNAVAILABLE if the service cannot have another webhook. */
  async settle({ key: { id }, current, next, named }: WebhookWrite): Promise<SettledWrite> {
    const state = current === undefined ? undefined : await this.#parts.records.state(id);
    if (next === undefined) {
      const deliveries = await this.#parts.records.allDeliveries(id);
      const changes = deliveries.map((each) => remove(deliveriesName, each.id, each));
      if (state !== undefined) changes.push(remove(statesName, id, state));
      return { next, changes, secret: undefined };
    }
    const after = withWebhookDefaults(JSON.parse(next) as Webhook);
    const before = current === undefined ? undefined : (JSON.parse(current) as Webhook);
    if (before === undefined) await this.#requireAnother();
    const secret = after.secret === undefined ? createSecret() : undefined;
    const moved = before !== undefined && new URL(before.url).origin !== new URL(after.url).origin;
    const { headers, ...others } = after;
    const text = JSON.stringify({
      ...others,
      ...(headers === undefined || (moved && !named.has("headers")) ? {} : { headers }),
      ...(secret === undefined ? {} : { secret }),
    });
    return { next: text, changes: await this.#stateChanges(before, after, state), secret };
  }

  async #requireAnother(): Promise<void> {
    if (this.#parts.feed === undefined)
      throw new Problem(
        "WEBHOOKS_UNAVAILABLE",
        'The service keeps no history, so webhooks cannot work. Remove history: "none" from the configuration.',
      );
    if ((await this.#parts.records.count()) < maxWebhooks) return;
    throw new Problem(
      "WEBHOOKS_UNAVAILABLE",
      `The service already has ${maxWebhooks} webhooks. Delete one first.`,
    );
  }

  /** A webhook gets the changes of a collection from the time on when the collection was added to it. */
  async #stateChanges(
    before: Webhook | undefined,
    after: Webhook,
    state: Versioned<WebhookState> | undefined,
  ): Promise<Change[]> {
    const had = new Set(before === undefined ? [] : collectionsOf(before, this.#parts));
    const added = collectionsOf(after, this.#parts).filter((name) => !had.has(name));
    const isSwitched = before !== undefined && before.enabled !== after.enabled;
    if (state !== undefined && added.length === 0 && !isSwitched) return [];
    const known = state?.value ?? { marks: {}, lost: 0 };
    const marks = { ...known.marks, ...(await placeNow(added, this.#parts)) };
    const next = isSwitched ? { ...known, disabledReason: undefined, failingSince: undefined } : known;
    const owes = after.enabled ? owedAt(after, marks) : undefined;
    return [put(statesName, after.id, state, { ...next, marks, owes })];
  }

  /** A webhook; `undefined` if it does not exist. */
  webhook(id: string): Promise<Versioned<Webhook> | undefined> {
    return this.#parts.records.webhook(id);
  }

  /** How the deliveries of a webhook go. */
  async status({ value: webhook }: Versioned<Webhook>): Promise<Record<string, unknown>> {
    const { id, enabled } = webhook;
    const { records, feed } = this.#parts;
    const [state, retrying] = await Promise.all([records.state(id), records.deliveriesIn(id, "retrying")]);
    const { lost = 0, lastSuccessAt, lastFailureAt, failingSince, disabledReason } = state?.value ?? {};
    const isDisabled = !enabled || feed === undefined;
    const reason =
      feed === undefined ? "The service keeps no history." : enabled ? undefined : disabledReason;
    return {
      state: isDisabled ? "disabled" : failingSince === undefined ? "active" : "failing",
      ...(reason === undefined ? {} : { reason }),
      retrying: retrying.length,
      waiting: await this.#waiting(webhook, state?.value),
      lost,
      lastSuccess: timeOf(lastSuccessAt),
      lastFailure: timeOf(lastFailureAt),
    };
  }

  /** How many changes the webhook has not come to yet. It may want only some of them. */
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
    const { records, clock, random } = this.#parts;
    const { id } = webhook.value;
    const before = await records.delivery(id, event);
    if (before === undefined) return undefined;
    const body = await bodyOf(this.#parts, webhook.value, before.value);
    if (body === undefined)
      throw new Problem("WEBHOOKS_UNAVAILABLE", "The history no longer has the change of this event.");
    const answer = await this.#send(webhook.value, { event, body }, signal);
    const at = clock.now();
    const record = recordAfter(before.value, answer, { at, random: random() });
    await records.commit([put(deliveriesName, deliveryId(id, event), before, record)], at);
    return shownDelivery(record);
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
    const answer = await this.#send(webhook, { event, body }, signal);
    const { isDelivered, status = null, milliseconds, response, error = null } = answer;
    return { event, delivered: isDelivered, status, milliseconds, response, error };
  }

  async #send(
    webhook: Webhook,
    { event, body }: { event: string; body: string },
    signal: AbortSignal,
  ): Promise<Answer> {
    const state = (await this.#parts.records.state(webhook.id))?.value ?? { marks: {}, lost: 0 };
    const answer = await this.#engine.receivers.run(webhook.url, () =>
      sendSigned(this.#parts, { webhook, state, event, body }, signal),
    );
    if (answer !== undefined) return answer;
    throw new Problem("UNAVAILABLE", "The service stops. Try again.");
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
