/** What the store keeps about webhooks: the webhooks, the state of each, and its deliveries. `Journal` writes it for one webhook. */
import type { Position } from "../../changes/position.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { readIndexes } from "../../collection/indexes.ts";
import type { Filter } from "../../query/filter.ts";
import { isIn, put, Records, recordIn, remove, type Versioned } from "../../records.ts";
import type { Owing } from "../../store/core/log-plans.ts";
import type { ChangeKind } from "../../store/port/change-log.ts";
import type { Change } from "../../store/port/commit.ts";
import type { ListQuery, Page } from "../../store/port/page.ts";
import type { ServingStore } from "../../store/port/store.ts";
import type { Stored } from "../../store/port/stored.ts";
import type { Done, RetryTable } from "./attempts.ts";
import { reasonToDisable, recordAfter, stateAfter, type WebhookParts } from "./delivery.ts";
import { type EventReader, marksOf, owedAt } from "./event-reader.ts";
import { deliveriesName, isEncrypted, statesName, type Webhook, webhooksName } from "./webhook.ts";

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

const newState: WebhookState = { marks: {}, lost: 0 };

/** The deliveries that administrators can still see: how many, and how long in milliseconds. */
const kept = { most: 1_000, ms: 7 * 24 * 3_600_000 };

/** The most deliveries of each kind that are removed in one commit. */
const atOnce = 500;

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
export class WebhookRecords extends Records {
  readonly #store: ServingStore;

  constructor(store: ServingStore) {
    super(store, [openCollection(webhooksName), states, deliveries]);
    this.#store = store;
  }

  /** Every webhook. */
  async all(): Promise<Versioned<Webhook>[]> {
    const names = this.#store.collections().has(webhooksName)
      ? [webhooksName]
      : await this.#store.collectionNames();
    if (!names.includes(webhooksName)) return [];
    return (await this.list<Webhook>({ collection: webhooksName, limit: 1_000 })).records;
  }

  /** Whether the secret of a webhook is encrypted. */
  async haveEncrypted(): Promise<boolean> {
    if (!this.#store.collections().has(webhooksName)) return false;
    return (await this.all()).some(({ value }) => isEncrypted(value.secret));
  }

  /** A webhook; `undefined` if it does not exist. */
  webhook(id: string): Promise<Versioned<Webhook> | undefined> {
    return this.read(webhooksName, id);
  }

  state(id: string): Promise<Versioned<WebhookState> | undefined> {
    return this.read(statesName, id);
  }

  /** The states of all webhooks, by id. */
  async states(): Promise<ReadonlyMap<string, WebhookState>> {
    const { items } = await this.#store.list({ collection: statesName, limit: 1_000 });
    return new Map(items.map((item) => [item.id, recordIn<WebhookState>(item).value]));
  }

  delivery(webhook: string, event: string): Promise<Versioned<DeliveryRecord> | undefined> {
    return this.read(deliveriesName, deliveryId(webhook, event));
  }

  /** The deliveries of a webhook, the latest first. */
  async deliveries(webhook: string, limit: number): Promise<Versioned<DeliveryRecord>[]> {
    const { items } = await this.#deliveries([isIn("webhook", webhook)], { limit });
    return items.map((item) => recordIn<DeliveryRecord>(item));
  }

  /** The deliveries of a webhook that are tried again. */
  async retrying(webhook: string): Promise<Versioned<DeliveryRecord>[]> {
    const all = await this.#allDeliveries([isIn("webhook", webhook), isIn("state", "retrying")]);
    return all.map((item) => recordIn<DeliveryRecord>(item));
  }

  /** All deliveries of a webhook. */
  allDeliveries(webhook: string): Promise<Stored[]> {
    return this.#allDeliveries([isIn("webhook", webhook)]);
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

  /** How many deliveries of all webhooks are in each state. */
  async deliveriesByState(): Promise<ReadonlyMap<string, number>> {
    const { groups } = await this.#store.figures({
      collection: deliveriesName,
      figures: [{ kind: "count", name: "count" }],
      group: [{ name: "state", path: ["state"], unit: undefined }],
      sort: [],
      limit: 10,
      offset: 0,
    });
    return new Map(groups.map(([state = "null", count]) => [String(JSON.parse(state)), Number(count)]));
  }

  /**
   * Removes old deliveries of a webhook, but never one that is tried again. Returns whether none is left. Throws
   * PRECONDITION_FAILED if another instance was faster.
   */
  async removeOld(webhook: string, now: number): Promise<boolean> {
    const isOfWebhook = isIn("webhook", webhook);
    const isOld: Filter = { kind: "lt", path: ["at"], values: [now - kept.ms] };
    const pages = [
      await this.#deliveries([isOfWebhook], { limit: atOnce, offset: kept.most }),
      await this.#deliveries([isOfWebhook, isOld], { limit: atOnce }),
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

/** A change that writes these attributes of the state of a webhook, and keeps the others. `before` is what was read. */
export function putState(
  id: string,
  before: Versioned<WebhookState> | undefined,
  changed: Partial<WebhookState>,
): Change {
  return put(statesName, id, before?.version, { ...newState, ...before?.value, ...changed });
}

/**
 * Disables every webhook that is enabled, after a store was copied or restored: a copy must not send anything to real receivers.
 * Returns how many they were. Administrators see the reason, a sentence.
 */
export async function disableWebhooks(store: ServingStore, reason: string, at: number): Promise<number> {
  const records = new WebhookRecords(store);
  const enabled = (await records.all()).filter(({ value }) => value.enabled);
  const changes: Change[] = [];
  for (const { value, version } of enabled) {
    changes.push(put(webhooksName, value.id, version, { ...value, enabled: false }));
    const state = await records.state(value.id);
    changes.push(putState(value.id, state, { disabledReason: reason, owes: undefined }));
  }
  await records.commit(changes, at);
  return enabled.length;
}

/** A position that moved without a delivery is stored this often, in milliseconds. */
const idleMs = 60_000;

/** Old deliveries are removed after this time (in milliseconds) or this many deliveries. */
const cleanup = { ms: 3_600_000, deliveries: 200 };

/** A record to write, and the version that it replaces. */
interface Outcome {
  record: DeliveryRecord;
  version: number | undefined;
}

/** What one commit writes. */
interface Write {
  outcomes: readonly Outcome[];
  state: WebhookState;
  position: Position;
  /** Why the webhook becomes disabled. */
  reason?: string | undefined;
}

/** The records of one webhook. Each method that writes throws PRECONDITION_FAILED if another instance has written. */
export class Journal {
  readonly #parts: WebhookParts;
  readonly #webhook: Versioned<Webhook>;
  readonly #reader: EventReader;
  /** The deliveries that are tried again. */
  readonly retries: RetryTable;
  #state: Versioned<WebhookState> | undefined;
  #storedPosition: Position | undefined;
  #storedAt: number;
  #isDisabled = false;
  #cleanedAt = 0;
  /** The deliveries that were stored after the last cleanup. */
  #deliveries = 0;

  constructor(
    parts: WebhookParts,
    webhook: Versioned<Webhook>,
    read: { state: Versioned<WebhookState> | undefined; retries: RetryTable; reader: EventReader },
  ) {
    this.#parts = parts;
    this.#webhook = webhook;
    this.#state = read.state;
    this.retries = read.retries;
    this.#reader = read.reader;
    this.#storedAt = parts.clock.now();
  }

  get state(): WebhookState | undefined {
    return this.#state?.value;
  }

  /** Whether it has disabled the webhook. */
  get isDisabled(): boolean {
    return this.#isDisabled;
  }

  /** The latest time to store the position: Unix time in milliseconds. */
  get positionDueAt(): number {
    return this.#storedAt + idleMs;
  }

  /** Stores the outcomes of attempts with the position, so that the position moves only together with them. */
  async storeOutcomes(done: readonly Done[]): Promise<void> {
    const { position } = this.#reader; // read at once, because further attempts end in the meantime
    let state = this.#known;
    let reason: string | undefined;
    for (const { due, result, at } of done) {
      if (due.body === undefined) state = { ...state, lost: state.lost + 1 };
      else {
        state = stateAfter(state, result, at);
        if (!this.#isDisabled) reason ??= reasonToDisable(state, result, at);
      }
    }
    const outcomes = await Promise.all(done.map((each) => this.#outcomeOf(each)));
    await this.#commit({ outcomes, state, position, reason });
    this.#deliveries += done.length;
  }

  async #outcomeOf({ due: { attempted, version, body }, result, at }: Done): Promise<Outcome> {
    const { records, random } = this.#parts;
    if (body !== undefined)
      return { record: recordAfter(attempted, result, { at, random: random() }), version };
    const before = await records.delivery(attempted.webhook, attempted.event);
    const now = recordAfter(attempted, result, { at, random: 0 });
    // It keeps the result of the last attempt, if there was one.
    return { record: { ...(before?.value ?? now), state: "dead", error: now.error, nextAt: null }, version };
  }

  /** Counts changes that the log no longer has. */
  async addLost(lost: number): Promise<void> {
    const { position } = this.#reader;
    const state = this.#known;
    await this.#commit({ outcomes: [], state: { ...state, lost: state.lost + lost }, position });
  }

  /** Stores the position if it has moved. */
  async storePosition(): Promise<void> {
    const { position } = this.#reader;
    this.#storedAt = this.#parts.clock.now();
    if (position === this.#storedPosition || this.#isDisabled) return;
    await this.#commit({ outcomes: [], state: this.#known, position });
  }

  /** Removes old deliveries if it is time. */
  async cleanUp(): Promise<void> {
    const { records, clock } = this.#parts;
    const now = clock.now();
    if (this.#deliveries < cleanup.deliveries && now - this.#cleanedAt < cleanup.ms) return;
    if (!(await records.removeOld(this.#webhook.value.id, now))) return;
    this.#cleanedAt = now;
    this.#deliveries = 0;
  }

  get #known(): WebhookState {
    return this.#state?.value ?? newState;
  }

  async #commit(write: Write): Promise<void> {
    const { outcomes, position, reason } = write;
    const { records, clock, warn } = this.#parts;
    const { value: webhook, version: ownVersion } = this.#webhook;
    const { id } = webhook;
    const state = this.#stateAfter(write);
    const changes: Change[] = [put(statesName, id, this.#state?.version, state)];
    for (const { record, version } of outcomes)
      changes.push(put(deliveriesName, deliveryId(id, record.event), version, record));
    if (reason !== undefined) changes.push(put(webhooksName, id, ownVersion, { ...webhook, enabled: false }));
    await records.commit(changes, clock.now());
    this.#state = { value: state, version: (this.#state?.version ?? 0) + 1 };
    this.#storedPosition = position;
    this.#storedAt = clock.now();
    for (const { record, version = 0 } of outcomes) this.retries.note(record, version + 1);
    if (reason === undefined) return;
    this.#isDisabled = true;
    warn(`the webhook ${id} is disabled: ${reason}`);
  }

  #stateAfter({ outcomes, state, position, reason }: Write): WebhookState {
    const marks = { ...state.marks, ...marksOf(position) };
    if (this.#isDisabled || reason !== undefined)
      return { ...state, marks, owes: undefined, disabledReason: reason ?? state.disabledReason };
    const failed = this.retries.after(outcomes.map(({ record }) => record));
    return { ...state, marks, owes: owedAt(this.#webhook.value, marks, failed) };
  }
}
