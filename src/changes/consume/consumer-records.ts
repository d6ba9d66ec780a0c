/** What the store keeps of consumers: the state of each, and its deliveries. `journal.ts` writes them while events are handled. */
import { type Collection, openCollection } from "../../collection/collection.ts";
import { readIndexes } from "../../collection/indexes.ts";
import type { Filter } from "../../query/filter.ts";
import { isIn, put, Records, recordIn, remove, type Versioned } from "../../records.ts";
import { type LogKeeper, logKeepers } from "../../store/core/log-plans.ts";
import type { ChangeKind } from "../../store/port/change-log.ts";
import type { Change } from "../../store/port/commit.ts";
import type { LogPlace } from "../../store/port/log-place.ts";
import type { ListQuery, Page } from "../../store/port/page.ts";
import type { ServingStore } from "../../store/port/store.ts";
import type { Stored } from "../../store/port/stored.ts";
import type { Details } from "./consumer.ts";

/** The names of the internal collections of consumers. */
export const consumersName = logKeepers;
export const deliveriesName = "_consumer_deliveries";

/** Where a consumer is in the logs, and how its deliveries went. The log keeps what it owes to the consumer. */
export interface ConsumerState extends LogKeeper {
  /** The place in the log of each collection: its sequence and check. A collection that is missing starts at its beginning. */
  marks: Readonly<Record<string, readonly [sequence: LogPlace, check: string]>>;
  /** Events that the log no longer had when the consumer reached them. */
  lost: number;
  /** Unix times in milliseconds. */
  lastSuccessAt?: number | undefined;
  lastFailureAt?: number | undefined;
  /** The first failure since the last success. */
  failingSince?: number | undefined;
  /** Why the service has disabled the consumer. */
  disabledReason?: string | undefined;
  /** What the kind of the consumer keeps beside. */
  own?: Readonly<Record<string, unknown>> | undefined;
}

/** One event for one consumer, after its first attempt. */
export interface DeliveryRecord {
  consumer: string;
  /** The id of the event. */
  event: string;
  type: string;
  collection: string;
  sequence: LogPlace;
  kind: ChangeKind;
  state: "delivered" | "retrying" | "dead";
  attempts: number;
  /** The last attempt: Unix time in milliseconds. */
  at: number;
  milliseconds: number;
  error: string | null;
  details: Details;
  /** The next attempt: Unix time in milliseconds; `null` if no attempt follows. */
  nextAt: number | null;
}

/** How many deliveries are in each state. */
export type DeliveryCounts = Readonly<Record<DeliveryRecord["state"], number>>;

/** The id of a delivery in the store. */
export function deliveryId({ consumer, event }: Pick<DeliveryRecord, "consumer" | "event">): string {
  return `${consumer}.${event}`;
}

/** The state of a consumer that has handled nothing. */
export const newState: ConsumerState = { marks: {}, lost: 0 };

/** The deliveries that administrators can still see: how many, and how long in milliseconds. */
const kept = { most: 1_000, ms: 7 * 24 * 3_600_000 };

/** The most deliveries of each kind that are removed in one commit. */
const atOnce = 500;

/** The most deliveries that are stored while all are read. */
const mostLatest = 1_000;

const states: Collection = openCollection(consumersName);
const deliveries: Collection = {
  ...openCollection(deliveriesName),
  indexes: readIndexes(
    [
      ["consumer", "-at"],
      ["consumer", "state", "-at"],
    ],
    "indexes",
  ),
};

/** Reads and writes what a store keeps of consumers. */
export class ConsumerRecords extends Records {
  readonly #store: ServingStore;

  /** `others` are further internal collections, which are created with these. */
  constructor(store: ServingStore, others: readonly Collection[] = []) {
    super(store, [...others, states, deliveries]);
    this.#store = store;
  }

  state(id: string): Promise<Versioned<ConsumerState> | undefined> {
    return this.read(consumersName, id);
  }

  /** The states of all consumers, by id. */
  async states(): Promise<ReadonlyMap<string, ConsumerState>> {
    const { items } = await this.#store.list({ collection: consumersName, limit: 1_000 });
    return new Map(items.map((item) => [item.id, recordIn<ConsumerState>(item).value]));
  }

  delivery(consumer: string, event: string): Promise<Versioned<DeliveryRecord> | undefined> {
    return this.read(deliveriesName, deliveryId({ consumer, event }));
  }

  /** The deliveries of a consumer, the latest first. */
  async deliveries(consumer: string, limit: number): Promise<Versioned<DeliveryRecord>[]> {
    const { items } = await this.#deliveries([isIn("consumer", consumer)], { limit });
    return items.map((item) => recordIn<DeliveryRecord>(item));
  }

  /** The deliveries of a consumer that are tried again. */
  async retrying(consumer: string): Promise<Versioned<DeliveryRecord>[]> {
    const all = await this.#allDeliveries([isIn("consumer", consumer), isIn("state", "retrying")]);
    return all.map((item) => recordIn<DeliveryRecord>(item));
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

  /**
   * The changes that remove the records of a consumer. Each write of its deliveries changes the state, and then the commit is overtaken. So all
   * deliveries are read first, which can take long, and after the state only the latest ones.
   */
  async removals(consumer: string): Promise<Change[]> {
    const all = await this.#allDeliveries([isIn("consumer", consumer)]);
    const versions = new Map(all.map((each) => [each.id, each.version]));
    const state = await this.state(consumer);
    for (const { value, version } of await this.deliveries(consumer, mostLatest))
      versions.set(deliveryId(value), version);
    const changes = [...versions].map(([name, version]) => remove(deliveriesName, name, version));
    return state === undefined ? changes : [...changes, remove(consumersName, consumer, state.version)];
  }

  /** How many deliveries these consumers have in each state, by the id of the consumer. */
  async deliveryCounts(consumers: readonly string[]): Promise<ReadonlyMap<string, DeliveryCounts>> {
    const counts = new Map(consumers.map((id) => [id, { delivered: 0, retrying: 0, dead: 0 }]));
    if (consumers.length === 0) return counts;
    const { groups } = await this.#store.figures({
      collection: deliveriesName,
      filter: { kind: "in", path: ["consumer"], values: [...consumers] },
      figures: [{ kind: "count", name: "count" }],
      group: ["consumer", "state"].map((name) => ({ name, path: [name], unit: undefined })),
      sort: [],
      limit: 3 * consumers.length,
      offset: 0,
    });
    for (const [consumer = "null", state = "null", count] of groups) {
      const own = counts.get(JSON.parse(consumer));
      if (own !== undefined) own[JSON.parse(state) as DeliveryRecord["state"]] = Number(count);
    }
    return counts;
  }

  /**
   * Removes old deliveries of a consumer, but never one that is tried again. Returns whether none is left. Throws
   * PRECONDITION_FAILED if another instance was faster.
   */
  async removeOld(consumer: string, now: number): Promise<boolean> {
    const isOfConsumer = isIn("consumer", consumer);
    const isOld: Filter = { kind: "lt", path: ["at"], values: [now - kept.ms] };
    const pages = [
      await this.#deliveries([isOfConsumer], { limit: atOnce, offset: kept.most }),
      await this.#deliveries([isOfConsumer, isOld], { limit: atOnce }),
    ];
    const found = new Map(pages.flatMap(({ items }) => items.map((item) => [item.id, item])));
    const outdated = [...found.values()].filter(
      (item) => recordIn<DeliveryRecord>(item).value.state !== "retrying",
    );
    await this.commit(
      outdated.map(({ id, version }) => remove(deliveriesName, id, version)),
      now,
    );
    return outdated.length === 0 || pages.every(({ items }) => items.length < atOnce);
  }

  #deliveries(filters: readonly Filter[], page: Pick<ListQuery, "limit" | "offset">): Promise<Page> {
    return this.#store.list({
      collection: deliveriesName,
      filter: { kind: "and", filters },
      sort: [{ path: ["at"], descending: true }],
      ...page,
    });
  }
}

/** A change that writes these attributes of the state of a consumer, and keeps the others. `before` is what was read. */
export function putState(
  id: string,
  before: Versioned<ConsumerState> | undefined,
  changed: Partial<ConsumerState>,
): Change {
  return put(consumersName, id, before?.version, { ...newState, ...before?.value, ...changed });
}
