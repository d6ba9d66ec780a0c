/** What consumers still have to handle. All instances on a store find the same. */
import type { LogHead } from "../../store/port/change-log.ts";
import {
  changesBetween,
  earlierOf,
  isAfter,
  type LogPlace,
  logStart,
  placeAfter,
} from "../../store/port/log-place.ts";
import type { HistoryStore, ServingStore } from "../../store/port/store.ts";
import { type ConsumeParts, type Consumer, collectionsOf } from "./consumer.ts";
import type { ConsumerRecords, ConsumerState } from "./consumer-records.ts";

/** What all consumers of a kind still have to handle. */
export interface Backlog {
  /** Changes that the consumers have not reached yet. Their filters can exclude some of them. */
  waiting: number;
  /** Failed deliveries that are tried again. */
  retrying: number;
  /** Failed deliveries that are given up, and are still in the store. */
  dead: number;
  /** The time of the oldest change among `waiting` and `retrying`, as Unix time in milliseconds; `undefined` without one. */
  oldestAt: number | undefined;
}

type BacklogParts = Pick<ConsumeParts, "collectionNames"> & {
  store: ServingStore & HistoryStore;
  records: ConsumerRecords;
};

type Gets = Pick<Consumer, "id" | "collections">;

/** The most collections whose oldest change is looked up. */
const maxLookups = 100;

/** What these consumers still have to handle. `all`: also those whose failed deliveries count although they do not run. */
export async function backlogOf(
  parts: BacklogParts,
  consumers: readonly Gets[],
  all: readonly Pick<Gets, "id">[],
): Promise<Backlog> {
  const { records, store } = parts;
  const states = consumers.length === 0 ? new Map() : await records.states();
  const waiting = await waitingFor(parts, consumers, states);
  const [oldestAt, deliveries] = await Promise.all([
    oldestOf(store, waiting.after),
    records.deliveryCounts(all.map(({ id }) => id)),
  ]);
  const sumOf = (state: "retrying" | "dead") =>
    [...deliveries.values()].reduce((sum, counts) => sum + counts[state], 0);
  return { waiting: waiting.changes, retrying: sumOf("retrying"), dead: sumOf("dead"), oldestAt };
}

/** What one consumer still has to handle. */
export interface Pending {
  /** Changes that it has not reached yet. Its filter can exclude some of them. */
  waiting: number;
  /** The time of the oldest change that it has not reached, or tries again, as Unix time in milliseconds; `undefined` without one. */
  oldestAt: number | undefined;
}

/** What each consumer still has to handle, by its id. */
export async function pendingOf(
  parts: Pick<BacklogParts, "store" | "collectionNames">,
  consumers: readonly Gets[],
  states: ReadonlyMap<string, ConsumerState>,
): Promise<ReadonlyMap<string, Pending>> {
  const heads = await headsOf(parts, consumers);
  const found = consumers.map(async (consumer) => {
    const { changes, after } = waitingUntil(heads, [consumer], { parts, states });
    return [consumer.id, { waiting: changes, oldestAt: await oldestOf(parts.store, after) }] as const;
  });
  return new Map(await Promise.all(found));
}

/** How many changes consumers have not reached yet, and the place before the oldest pending change of each collection. */
export async function waitingFor(
  parts: Pick<BacklogParts, "store" | "collectionNames">,
  consumers: readonly Gets[],
  states: ReadonlyMap<string, ConsumerState>,
): Promise<{ changes: number; after: ReadonlyMap<string, LogPlace> }> {
  return waitingUntil(await headsOf(parts, consumers), consumers, { parts, states });
}

/** The last changes of the collections that these consumers get. */
async function headsOf(
  parts: Pick<BacklogParts, "store" | "collectionNames">,
  consumers: readonly Gets[],
): Promise<ReadonlyMap<string, LogHead>> {
  const names = new Set(consumers.flatMap((each) => collectionsOf(each, parts)));
  return consumers.length === 0 ? new Map() : parts.store.logHeads([...names]);
}

/** What `waitingFor` returns, from the last changes of all collections. */
function waitingUntil(
  heads: ReadonlyMap<string, LogHead>,
  consumers: readonly Gets[],
  {
    parts,
    states,
  }: { parts: Pick<BacklogParts, "collectionNames">; states: ReadonlyMap<string, ConsumerState> },
): { changes: number; after: ReadonlyMap<string, LogPlace> } {
  let changes = 0;
  const after = new Map<string, LogPlace>();
  for (const consumer of consumers) {
    const { marks = {}, owes = {} } = states.get(consumer.id) ?? {};
    for (const name of collectionsOf(consumer, parts)) {
      const head = heads.get(name)?.sequence ?? logStart;
      const reached = marks[name]?.[0] ?? logStart;
      changes += changesBetween(reached, head);
      const pending = earlierOf(reached, owes[name] ?? reached);
      if (isAfter(head, pending)) after.set(name, earlierOf(pending, after.get(name) ?? pending));
    }
  }
  return { changes, after };
}

async function oldestOf(
  store: HistoryStore,
  after: ReadonlyMap<string, LogPlace>,
): Promise<number | undefined> {
  const lookups = [...after]
    .slice(0, maxLookups)
    .map(([name, place]) => store.changeAt(name, placeAfter(place, 1)));
  const times = (await Promise.all(lookups)).flatMap((change) => change?.at ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
