/** What the webhooks of a service still have to deliver, for the metrics. All instances on a store find the same. */
import type { WebhookParts } from "./parts.ts";
import { collectionsOf } from "./place.ts";
import type { WebhookState } from "./records.ts";
import { deliveriesName, type Webhook } from "./webhook.ts";

/** The backlog of all webhooks together. */
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

type BacklogParts = Pick<WebhookParts, "store" | "records" | "collectionNames">;

/** Reads the backlog. */
export async function backlogOf(parts: BacklogParts): Promise<Backlog> {
  const webhooks = (await parts.records.all()).map(({ value }) => value);
  const enabled = webhooks.filter((webhook) => webhook.enabled);
  const [waiting, states] = await Promise.all([
    waitingFor(parts, enabled, await parts.records.states()),
    webhooks.length === 0 ? new Map<string, number>() : deliveriesByState(parts),
  ]);
  return {
    enabled: enabled.length,
    disabled: webhooks.length - enabled.length,
    ...waiting,
    retrying: states.get("retrying") ?? 0,
    dead: states.get("dead") ?? 0,
  };
}

async function waitingFor(
  parts: BacklogParts,
  enabled: readonly Webhook[],
  states: ReadonlyMap<string, WebhookState>,
): Promise<Pick<Backlog, "waiting" | "oldestAt">> {
  if (enabled.length === 0) return { waiting: 0, oldestAt: undefined };
  const names = new Set(enabled.flatMap((webhook) => collectionsOf(webhook, parts)));
  const heads = await parts.store.logHeads([...names]);
  let waiting = 0;
  /** The sequence before the oldest change of each collection. */
  const oldest = new Map<string, number>();
  for (const webhook of enabled) {
    const { marks = {}, owes = {} } = states.get(webhook.id) ?? {};
    for (const name of collectionsOf(webhook, parts)) {
      const head = heads.get(name)?.sequence ?? 0;
      const reached = marks[name]?.[0] ?? 0;
      waiting += Math.max(0, head - reached);
      const pending = Math.min(reached, owes[name] ?? reached);
      if (pending < head) oldest.set(name, Math.min(pending, oldest.get(name) ?? pending));
    }
  }
  return { waiting, oldestAt: await oldestOf(parts, [...oldest].slice(0, maxLookups)) };
}

async function oldestOf(
  { store }: BacklogParts,
  places: readonly (readonly [collection: string, after: number])[],
): Promise<number | undefined> {
  const found = await Promise.all(places.map(([name, after]) => store.changeAt(name, after + 1)));
  const times = found.flatMap((change) => (change === undefined ? [] : [change.at]));
  return times.length === 0 ? undefined : Math.min(...times);
}

async function deliveriesByState({ store }: BacklogParts): Promise<ReadonlyMap<string, number>> {
  const { groups } = await store.figures({
    collection: deliveriesName,
    figures: [{ kind: "count", name: "count" }],
    group: [{ name: "state", path: ["state"], unit: undefined }],
    sort: [],
    limit: 10,
    offset: 0,
  });
  return new Map(groups.map(([state = "null", count]) => [String(JSON.parse(state)), Number(count)]));
}
