/** What the store keeps of consumers beside their states and deliveries: which ones it knows, and whether they run. */
import type { Core } from "../../../capability.ts";
import type { ConsumedFeed } from "../../../changes/consume/consumer.ts";
import { ConsumerRecords, putState } from "../../../changes/consume/consumer-records.ts";
import { marksOf, owedAt, placeNow } from "../../../changes/consume/event-reader.ts";
import { noChange } from "../../../changes/position.ts";
import { openCollection } from "../../../collection/collection.ts";
import { put, remove, type Versioned } from "../../../records.ts";
import { startOf } from "../../../store/port/change-log.ts";
import type { Change } from "../../../store/port/commit.ts";
import { logStart } from "../../../store/port/log-place.ts";
import type { HistoryStore, ServingStore } from "../../../store/port/store.ts";
import type { ConsumerSettings } from "./consumer-settings.ts";

/** The internal collection of the consumers that a service has, or had. */
export const registryName = "_code_consumers";

/** A consumer that the store knows. Each version of it is another consumer for the engine, which then starts it again. */
export interface Registered {
  /** The name of the consumer. */
  id: string;
  enabled: boolean;
  /** When a start found that the configuration no longer has it: Unix time in milliseconds; `null` while it has it. */
  removedAt: number | null;
}

/** The store keeps a consumer for this long after its removal from the configuration, in milliseconds. */
const keptMs = 30 * 24 * 3_600_000;

/** What the registry depends on. */
export interface RegistryParts {
  store: ServingStore & HistoryStore;
  /** Absent if the store keeps no history. Then there are no consumers. */
  feed: ConsumedFeed | undefined;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** Reads and writes the consumers that the store knows. */
export class Registry extends ConsumerRecords {
  readonly #parts: RegistryParts;

  constructor(parts: RegistryParts) {
    super(parts.store, [openCollection(registryName)]);
    this.#parts = parts;
  }

  /** Every consumer that the store knows, by its name. */
  async all(): Promise<ReadonlyMap<string, Versioned<Registered>>> {
    const { store } = this.#parts;
    const names = store.collections().has(registryName) ? [registryName] : await store.collectionNames();
    if (!names.includes(registryName)) return new Map();
    const { records } = await this.list<Registered>({ collection: registryName, limit: 1_000 });
    return new Map(records.map((each) => [each.value.id, each]));
  }

  registered(name: string): Promise<Versioned<Registered> | undefined> {
    return this.read(registryName, name);
  }

  /** Adds the consumers that the store does not know, each with the place where it begins. Those that came back continue. */
  async add(consumers: readonly ConsumerSettings[]): Promise<void> {
    const known = await this.all();
    for (const consumer of consumers)
      if (known.get(consumer.name)?.value.removedAt !== null) await this.#add(consumer);
  }

  #add(consumer: ConsumerSettings): Promise<void> {
    const { name: id } = consumer;
    return this.untilCommitted<void>(async () => {
      const before = await this.registered(id);
      const next: Registered = { id, enabled: before?.value.enabled ?? true, removedAt: null };
      const changes = [put(registryName, id, before?.version, next)];
      if (before === undefined) changes.push(await this.#beginning(consumer));
      return { changes, result: undefined };
    }, this.#parts.now);
  }

  /** The state of a new consumer. */
  async #beginning({ name, collection, from }: ConsumerSettings): Promise<Change> {
    const marks = from === "now" ? await placeNow([collection], this.#parts) : await this.#start(collection);
    const owes = owedAt({ collections: [collection] }, marks);
    return putState(name, await this.state(name), { marks, owes });
  }

  /** The place before the oldest change that the history has. */
  async #start(collection: string) {
    const sequence = startOf(await this.#parts.store.changesAfter(collection, logStart, 1));
    return marksOf([{ collection, sequence, check: noChange }]);
  }

  /** Notes which consumers the configuration no longer has, and forgets those that were removed long ago. */
  async retire(declared: ReadonlySet<string>): Promise<void> {
    const now = this.#parts.now();
    for (const [id, { value }] of await this.all()) {
      if (declared.has(id)) continue;
      if (value.removedAt === null) await this.change(id, (each) => ({ ...each, removedAt: now }));
      else if (now - value.removedAt > keptMs) await this.#forget(id);
    }
  }

  #forget(id: string): Promise<void> {
    return this.untilCommitted<void>(async () => {
      const before = await this.registered(id);
      const own = before === undefined ? [] : [remove(registryName, id, before.version)];
      return { changes: [...(await this.removals(id)), ...own], result: undefined };
    }, this.#parts.now);
  }

  /** Lets a consumer run or not. While it does not, the log keeps nothing for it. Returns whether the store knows it. */
  async enable(id: string, enabled: boolean): Promise<boolean> {
    const [collection = ""] = id.split("/");
    const changed = await this.change(
      id,
      (before) => ({ ...before, enabled }),
      async () => {
        const retrying = (await this.retrying(id)).map(({ value }) => value);
        const state = await this.state(id);
        const owed = owedAt({ collections: [collection] }, state?.value.marks ?? {}, retrying);
        const owes = enabled ? owed : undefined;
        return [putState(id, state, { owes, disabledReason: undefined, failingSince: undefined })];
      },
    );
    return changed !== undefined;
  }

  /** Changes a consumer, and others of its records in the same commit. Returns what is stored; `undefined` if the store does not know it. */
  async change(
    id: string,
    next: (before: Registered) => Registered,
    more: () => Promise<readonly Change[]> = async () => [],
  ): Promise<Registered | undefined> {
    return this.untilCommitted<Registered | undefined>(async () => {
      const others = await more();
      const before = await this.registered(id);
      if (before === undefined) return { changes: [], result: undefined };
      const result = next(before.value);
      return { changes: [put(registryName, id, before.version, result), ...others], result };
    }, this.#parts.now);
  }
}

/** Disables every consumer that is enabled, after a store was copied or restored. Returns how many they were. `reason`: a sentence. */
export async function disableConsumers(
  store: ServingStore & HistoryStore,
  reason: string,
  at: number,
): Promise<number> {
  const registry = new Registry({ store, feed: undefined, now: () => at });
  const enabled = [...(await registry.all()).values()].filter(({ value }) => value.enabled);
  for (const { value } of enabled) {
    const state = () => registry.state(value.id);
    await registry.change(
      value.id,
      (each) => ({ ...each, enabled: false }),
      async () => [putState(value.id, await state(), { disabledReason: reason, owes: undefined })],
    );
  }
  return enabled.length;
}

/** Notes that the configuration no longer has the consumers of a store. */
export async function retireAll({ service, store }: Pick<Core, "service" | "store">): Promise<void> {
  if (!store.collections().has(registryName)) return;
  await new Registry({ store, feed: service.feed, now: service.now }).retire(new Set());
}
