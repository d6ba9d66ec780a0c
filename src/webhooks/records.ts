/** What the store keeps about webhooks: the webhooks, the state of each, and its deliveries. */
import { type Collection, openCollection } from "../collection/collection.ts";
import { readIndexes } from "../collection/indexes.ts";
import type { Filter } from "../query/filter.ts";
import type { Owing } from "../store/core/log-plans.ts";
import type { ChangeKind } from "../store/port/change-log.ts";
import type { Change } from "../store/port/commit.ts";
import type { ListQuery, Page } from "../store/port/page.ts";
import { recordOf } from "../store/port/record.ts";
import type { ServingStore } from "../store/port/store.ts";
import type { Stored } from "../store/port/stored.ts";
import { deliveriesName, statesName, type Webhook, webhooksName } from "./webhook.ts";

/** The part of a store that webhooks use. */
export type WebhookStore = Pick<
  ServingStore,
  "read" | "list" | "count" | "commit" | "migrate" | "collections" | "collectionNames"
>;

/** Something that is stored, with the version that a change must expect. */
export interface Versioned<T> {
  value: T;
  version: number;
}

/** Where a webhook is in the logs, and how its deliveries went. */
export interface WebhookState {
  /** The place in the log of each collection: its sequence and check. A collection that is missing starts at its beginning. */
  marks: Readonly<Record<string, readonly [sequence: number, check: string]>>;
  /** What the sweep of the log keeps for the webhook; absent if it is disabled. */
  owes?: Owing["owes"];
  /** Events that the log no longer had when the webhook reached them. */
  lost: number;
  /** Unix times in milliseconds. */
  lastSuccessAt?: number | undefined;
  lastFailureAt?: number | undefined;
  /** The first failure since the last success. */
  failingSince?: number | undefined;
  /** Why the service has disabled the webhook. */
  disabledReason?: string | undefined;
  /** The secret before the last rotation, and the time until which it signs too. */
  oldSecret?: string | undefined;
  oldSecretUntil?: number | undefined;
}

/** One event for one webhook, after its first attempt. */
export interface DeliveryRecord {
  webhook: string;
  /** The id of the event. */
  event: string;
  type: string;
  collection: string;
  sequence: number;
  kind: ChangeKind;
  state: "delivered" | "retrying" | "dead";
  attempts: number;
  /** The last attempt: Unix time in milliseconds. */
  at: number;
  status: number | null;
  milliseconds: number;
  response: string;
  error: string | null;
  /** The next attempt: Unix time in milliseconds; `null` if there is none. */
  nextAt: number | null;
}

/** The id of a delivery in the store. */
export function deliveryId(webhook: string, event: string): string {
  return `${webhook}.${event}`;
}

const states: Collection = openCollection(statesName);
const deliveries: Collection = {
  ...openCollection(deliveriesName),
  indexes: readIndexes(
    [
      ["webhook", "-at"],
      ["webhook", "state", "-at"],
    ],
    "indexes",
  ),
};

/** Reads and writes the internal collections of one store. */
export class WebhookRecords {
  readonly #store: WebhookStore;
  #isPrepared: Promise<void> | undefined;

  constructor(store: WebhookStore) {
    this.#store = store;
  }

  /** Creates the internal collections if they do not exist. Call this before the first write. */
  prepare(): Promise<void> {
    this.#isPrepared ??= this.#prepare().catch((error: unknown) => {
      this.#isPrepared = undefined;
      throw error;
    });
    return this.#isPrepared;
  }

  async #prepare(): Promise<void> {
    await this.#store.migrate([openCollection(webhooksName), states, deliveries].map(recordOf));
  }

  /** Every webhook. */
  async all(): Promise<Versioned<Webhook>[]> {
    const names = this.#store.collections().has(webhooksName)
      ? [webhooksName]
      : await this.#store.collectionNames();
    if (!names.includes(webhooksName)) return [];
    const { items } = await this.#store.list({ collection: webhooksName, limit: 1_000 });
    return items.map((item) => parse<Webhook>(item));
  }

  /** A webhook; `undefined` if it does not exist. */
  async webhook(id: string): Promise<Versioned<Webhook> | undefined> {
    return parsed<Webhook>(await this.#store.read({ collection: webhooksName, id }));
  }

  async count(): Promise<number> {
    return this.#store.count(webhooksName);
  }

  async state(id: string): Promise<Versioned<WebhookState> | undefined> {
    return parsed<WebhookState>(await this.#store.read({ collection: statesName, id }));
  }

  /** The states of all webhooks, by id. */
  async states(): Promise<ReadonlyMap<string, WebhookState>> {
    const { items } = await this.#store.list({ collection: statesName, limit: 1_000 });
    return new Map(items.map((item) => [item.id, parse<WebhookState>(item).value]));
  }

  async delivery(webhook: string, event: string): Promise<Versioned<DeliveryRecord> | undefined> {
    return parsed(await this.#store.read({ collection: deliveriesName, id: deliveryId(webhook, event) }));
  }

  /** The deliveries of a webhook, the latest first. */
  async deliveries(webhook: string, limit: number): Promise<Versioned<DeliveryRecord>[]> {
    const { items } = await this.#deliveries([isWebhook(webhook)], { limit });
    return items.map((item) => parse<DeliveryRecord>(item));
  }

  /** The deliveries of a webhook that are in a state. */
  async deliveriesIn(webhook: string, state: DeliveryRecord["state"]): Promise<Versioned<DeliveryRecord>[]> {
    const all = await this.#allDeliveries([isWebhook(webhook), isIn("state", state)]);
    return all.map((item) => parse<DeliveryRecord>(item));
  }

  /** All deliveries of a webhook. */
  allDeliveries(webhook: string): Promise<Stored[]> {
    return this.#allDeliveries([isWebhook(webhook)]);
  }

  /** Reads page by page in the order of ids, because a delivery that is written meanwhile can move in any other order. */
  async #allDeliveries(filters: readonly Filter[]): Promise<Stored[]> {
    const all: Stored[] = [];
    for (;;) {
      const last = all.at(-1);
      const { items, more } = await this.#store.list({
        collection: deliveriesName,
        filter: { kind: "and", filters },
        limit: 500,
        ...(last && { after: [last.id] }),
      });
      all.push(...items);
      if (!more) return all;
    }
  }

  /** Deliveries that can be removed: all except the latest `most`, and all before a time. Never a delivery that is retried. */
  async outdated(
    webhook: string,
    { most, before, limit }: { most: number; before: number; limit: number },
  ): Promise<{ id: string; version: number }[]> {
    const excess = await this.#deliveries([isWebhook(webhook)], { limit, offset: most });
    const old = await this.#deliveries([isWebhook(webhook), { kind: "lt", path: ["at"], values: [before] }], {
      limit,
    });
    const found = new Map([...excess.items, ...old.items].map((item) => [item.id, item]));
    return [...found.values()].filter((item) => parse<DeliveryRecord>(item).value.state !== "retrying");
  }

  #deliveries(filters: readonly Filter[], page: Pick<ListQuery, "limit" | "offset">): Promise<Page> {
    return this.#store.list({
      collection: deliveriesName,
      filter: { kind: "and", filters },
      sort: [{ path: ["at"], descending: true }],
      ...page,
    });
  }

  /** Writes changes. Throws PRECONDITION_FAILED if another instance was faster. */
  async commit(changes: readonly Change[], at: number): Promise<void> {
    if (changes.length === 0) return;
    await this.prepare();
    await this.#store.commit({ changes, at });
  }
}

function isWebhook(id: string): Filter {
  return isIn("webhook", id);
}

function isIn(name: string, value: string): Filter {
  return { kind: "in", path: [name], values: [value] };
}

function parsed<T>(stored: Stored | undefined): Versioned<T> | undefined {
  return stored === undefined ? undefined : parse<T>(stored);
}

function parse<T>({ text, version }: Stored): Versioned<T> {
  return { value: JSON.parse(text) as T, version };
}

/** A change that writes a value. `before` is what was read; `undefined` if it did not exist. */
export function put(
  collection: string,
  id: string,
  before: Pick<Versioned<unknown>, "version"> | undefined,
  value: object,
): Change {
  const { id: _, ...attributes } = value as { id?: string };
  const next = JSON.stringify({ id, ...attributes });
  return { key: { collection, id }, expect: before?.version ?? "absent", next };
}

/** A change that deletes what was read. */
export function remove(collection: string, id: string, { version }: { version: number }): Change {
  return { key: { collection, id }, expect: version, next: undefined };
}
