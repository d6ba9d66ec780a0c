/** What a consumer sees of its collection. */
import type { Principal } from "../../../access/principal.ts";
import { readSelectionFilter, selectedFields } from "../../../changes/consume/selection.ts";
import type { View } from "../../../changes/event.ts";
import type { Collection } from "../../../collection/collection.ts";
import { guardOf, pastViewFor, viewFor } from "../../../http/caller/permission.ts";
import type { Service } from "../../../http/service.ts";
import { principalOf } from "../calls/acting.ts";
import type { ConsumerSettings } from "./consumer-settings.ts";

/** Makes the view of a consumer. A rule can compare with the time, so the view is made each time that it is needed. */
export function createView(service: Service, consumer: ConsumerSettings): () => View | undefined {
  const { name, collection: collectionName, filter: declared, fields, sees } = consumer;
  const principal: Principal = principalOf(name, sees);
  const caller = { principal, quota: undefined };
  const source = `${service.settings.prefix}/${collectionName}`;
  let filter: View["filter"];
  let filtered: Collection | undefined;
  return () => {
    const collection = service.collections().get(collectionName);
    if (collection === undefined) return undefined;
    if (declared !== undefined && filtered !== collection) {
      const all = { ...collection, visibility: undefined };
      filter = readSelectionFilter(declared, all, (each) => service.collections().get(each)).filter;
      filtered = collection;
    }
    const present = viewFor(service, collection, caller);
    const past = sees === "service" ? present : pastViewFor(service, present, caller);
    const { followed: listed } = guardOf(service, past, caller);
    return { collection: past, present, source, listed, filter, fields: fields && selectedFields(fields) };
  };
}
