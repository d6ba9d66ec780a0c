/** The place of a webhook in the logs: finds, stores and continues it. `event-reader.ts` reads the events. */
import { Gone, goneReasons } from "../changes/log.ts";
import { type Mark, noChange, type Position } from "../changes/position.ts";
import type { WebhookParts } from "./parts.ts";
import type { DeliveryRecord, WebhookState } from "./records.ts";
import { everyCollection, type Webhook } from "./webhook.ts";

type Marks = WebhookState["marks"];

/** The collections that a webhook gets now, by name. */
export function collectionsOf(
  { collections }: Webhook,
  { collectionNames }: Pick<WebhookParts, "collectionNames">,
): readonly string[] {
  return collections.includes(everyCollection) ? collectionNames() : collections;
}

/** The place after the last change of each collection, in the stored form. */
export async function placeNow(
  names: readonly string[],
  { feed }: Pick<WebhookParts, "feed">,
): Promise<Marks> {
  return feed === undefined ? {} : marksOf(await feed.log.now(names));
}

/** A position in the stored form. */
export function marksOf(position: Position): Marks {
  return Object.fromEntries(
    position.map(({ collection, sequence, check }) => [collection, [sequence, check]]),
  );
}

/** The changes that the log must keep for a webhook at these marks that still retries these deliveries (`Owing`). */
export function owedAt(
  { collections }: Webhook,
  marks: Marks,
  retrying: Iterable<Pick<DeliveryRecord, "collection" | "sequence">> = [],
): Readonly<Record<string, number>> {
  const names = collections.includes(everyCollection)
    ? [...Object.keys(marks), everyCollection]
    : collections;
  const owes = Object.fromEntries(names.map((name) => [name, marks[name]?.[0] ?? 0]));
  for (const { collection, sequence } of retrying)
    owes[collection] = Math.min(owes[collection] ?? sequence - 1, sequence - 1);
  return owes;
}

/** The stored place in these collections as a position. */
export function positionOf(marks: Marks, names: readonly string[]): Position {
  return names.map((collection): Mark => {
    const [sequence = 0, check = noChange] = Object.hasOwn(marks, collection)
      ? (marks[collection] ?? [])
      : [];
    return { collection, sequence, check };
  });
}

/** A position from which the log can continue, and how many changes it skips. */
export interface Continued {
  position: Position;
  lost: number;
  /** Whether the history of the store is not the one that the webhook has read. */
  isForeign: boolean;
}

/** Moves a position to where the log can continue. A store that was restored continues after its last change. */
export async function continued(
  position: Position,
  { store, feed }: Pick<WebhookParts, "store" | "feed">,
): Promise<Continued> {
  let lost = 0;
  let isForeign = false;
  const marks = await Promise.all(
    position.map(async (mark): Promise<Mark> => {
      const { collection, sequence } = mark;
      if (await isOfOtherHistory(mark, feed)) {
        isForeign = true;
        return (await feed?.log.now([collection]))?.[0] ?? mark;
      }
      const { changes, sequence: head } = await store.changesAfter(collection, sequence, 1);
      const next = (changes[0]?.sequence ?? head + 1) - 1;
      lost += next - sequence;
      return next === sequence ? mark : { collection, sequence: next, check: noChange };
    }),
  );
  return { position: marks, lost, isForeign };
}

async function isOfOtherHistory(mark: Mark, feed: WebhookParts["feed"]): Promise<boolean> {
  if (mark.check === noChange && mark.sequence === 0) return false;
  try {
    await feed?.log.verify(mark);
    return false;
  } catch (error) {
    if (error instanceof Gone) return error.message === goneReasons.otherHistory;
    throw error;
  }
}
