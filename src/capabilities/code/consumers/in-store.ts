/** What consumers do with the content of a store, for commands. */
import type { InStore } from "../../../capability.ts";
import { recordIn } from "../../../records.ts";
import type { StoreReader } from "../../../store/port/store.ts";
import type { CodeSettings } from "../settings.ts";
import { disableConsumers, type Registered, registryName } from "./registry.ts";

/** Why consumers are disabled, as administrators see it. */
const reasons = {
  copied: "The store is a copy. Enable the consumer to let it handle changes here too.",
  // The consumer already has the events that the restored store would give to it again.
  restored: "The store was restored from a backup. Enable the consumer to let it handle changes again.",
};

export const consumersInStore = {
  quieten: async (store, { made, at }) => {
    if (made === "moved") return [];
    const count = await disableConsumers(store, reasons[made], at);
    return count === 0 ? [] : [{ did: "disabled", count, what: "consumer" }];
  },
  leftIn: async (reader, { consumers }) => {
    const declared = new Set(consumers.map(({ name }) => name));
    const removed = (await registeredIn(reader)).filter(({ id }) => !declared.has(id));
    return removed.map(
      ({ id }) =>
        `${id}: the store keeps the position of this consumer, and the configuration no longer has it. If you have renamed it, the consumer with the new name begins with new changes. The store forgets it 30 days after the first start without it`,
    );
  },
} satisfies InStore<CodeSettings>;

async function registeredIn(reader: StoreReader): Promise<Registered[]> {
  if (!reader.collections().has(registryName)) return [];
  const found: Registered[] = [];
  for await (const stored of reader.scan(registryName)) found.push(recordIn<Registered>(stored).value);
  return found;
}
