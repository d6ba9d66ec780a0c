/** What the store keeps of webhooks. Their states and deliveries are those of consumers. */
import { ConsumerRecords, type ConsumerState, putState } from "../../changes/consume/consumer-records.ts";
import { openCollection } from "../../collection/collection.ts";
import { put, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { ServingStore } from "../../store/port/store.ts";
import { isEncrypted, type Webhook, webhooksName } from "./webhook.ts";

/** What the state of a webhook has beside that of every consumer: the secret before the last rotation, and until when it signs too. */
interface OwnState {
  oldSecret?: string | undefined;
  /** Unix time in milliseconds. */
  oldSecretUntil?: number | undefined;
}

/** What the state of a webhook has beside that of every consumer. */
export function ownOf(state: ConsumerState | undefined): OwnState {
  return (state?.own ?? {}) as OwnState;
}

/** A change that writes this part of the state of a webhook. `before` is what was read. */
export function putOwn(id: string, before: Versioned<ConsumerState> | undefined, own: OwnState): Change {
  return putState(id, before, { own: { ...ownOf(before?.value), ...own } });
}

/** Reads and writes what one store keeps of webhooks. */
export class WebhookRecords extends ConsumerRecords {
  readonly #ownStore: ServingStore;

  constructor(store: ServingStore) {
    super(store, [openCollection(webhooksName)]);
    this.#ownStore = store;
  }

  /** Every webhook. */
  async all(): Promise<Versioned<Webhook>[]> {
    const store = this.#ownStore;
    const names = store.collections().has(webhooksName) ? [webhooksName] : await store.collectionNames();
    if (!names.includes(webhooksName)) return [];
    return (await this.list<Webhook>({ collection: webhooksName, limit: 1_000 })).records;
  }

  /** Whether the secret of a webhook is encrypted. */
  async haveEncrypted(): Promise<boolean> {
    if (!this.#ownStore.collections().has(webhooksName)) return false;
    return (await this.all()).some(({ value }) => isEncrypted(value.secret));
  }

  /** A webhook; `undefined` if it does not exist. */
  webhook(id: string): Promise<Versioned<Webhook> | undefined> {
    return this.read(webhooksName, id);
  }
}

/** The change that disables a webhook. */
export function disabled({ value, version }: Versioned<Webhook>): Change {
  return put(webhooksName, value.id, version, { ...value, enabled: false });
}

/**
 * Disables every webhook that is enabled, after a store was copied or restored: a copy must not send anything to real receivers.
 * Returns how many they were. Administrators see the reason, a sentence.
 */
export async function disableWebhooks(store: ServingStore, reason: string, at: number): Promise<number> {
  const records = new WebhookRecords(store);
  const enabled = (await records.all()).filter(({ value }) => value.enabled);
  const changes: Change[] = [];
  for (const webhook of enabled) {
    const { id } = webhook.value;
    const state = await records.state(id);
    changes.push(disabled(webhook), putState(id, state, { disabledReason: reason, owes: undefined }));
  }
  await records.commit(changes, at);
  return enabled.length;
}
