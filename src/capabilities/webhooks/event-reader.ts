/** The place of a webhook in the logs: where it is, in the stored form, and the events after it. */
import { type FeedEvent, type FeedPage, readFeed } from "../../changes/feed.ts";
import { type Mark, noChange, type Position } from "../../changes/position.ts";
import { Gone, goneReasons } from "../../changes/shared-log.ts";
import type { Due } from "./attempts.ts";
import type { WebhookFeed, WebhookParts } from "./delivery.ts";
import { everyCollection, viewOfWebhook, type Webhook } from "./webhook.ts";
import type { DeliveryRecord, WebhookState } from "./webhook-records.ts";

/** The most events of a page, and the most text in characters. */
const pageEnd = { events: 50, text: 256 * 1024, isShared: true, splitsCommits: true };

/** A page of events, some of which have no response yet. */
export interface OpenPage {
  /** Where the webhook is after these events. */
  position: Position;
  /** Events without a response. */
  left: number;
}

/** What one read found. */
export interface Read {
  /** The new events, without those that were tried before. */
  due: readonly Due[];
  /** Changes that the log no longer had. */
  lost: number;
  /** Whether the read reached the end of the logs. */
  isEnd: boolean;
}

/** What a reader depends on. */
type ReaderParts = WebhookParts & { feed: WebhookFeed };

/** Reads the events of one webhook. */
export class EventReader {
  readonly #parts: ReaderParts;
  readonly #webhook: Webhook;
  readonly #startedAt: number;
  /** In the order in which they were read. */
  readonly #pages: OpenPage[] = [];
  /** Where it reads. */
  #reading: Position;
  /** Before this, every event was tried. */
  #tried: Position;
  #isVerified = false;

  private constructor(parts: ReaderParts, webhook: Webhook, position: Position) {
    this.#parts = parts;
    this.#webhook = webhook;
    this.#startedAt = parts.clock.now();
    this.#reading = position;
    this.#tried = position;
  }

  /** Opens it at the stored place. A state is created with its webhook. Without one, the webhook begins after the last change. */
  static async open(
    parts: ReaderParts,
    webhook: Webhook,
    state: WebhookState | undefined,
  ): Promise<EventReader> {
    const names = collectionsOf(webhook, parts);
    const marks = state?.marks ?? (await placeNow(names, parts));
    return new EventReader(parts, webhook, positionOf(marks, names));
  }

  /** The position before which every event was tried. */
  get position(): Position {
    while (this.#pages[0]?.left === 0) this.#tried = this.#pages.shift()?.position ?? this.#tried;
    return this.#tried;
  }

  /** Reads the next page. */
  async read(): Promise<Read> {
    if (!this.#isVerified) return this.#continue(this.#reading);
    const position = this.#withNewCollections();
    const read = await this.#page(position);
    return read === undefined ? this.#continue(position) : this.#take(read);
  }

  /** Collections that are new since the last page join from their first change. */
  #withNewCollections(): Position {
    const names = collectionsOf(this.#webhook, this.#parts);
    return names.length === this.#reading.length ? this.#reading : positionOf(marksOf(this.#reading), names);
  }

  /** `undefined` if the log does not have all changes after the position. */
  async #page(position: Position): Promise<FeedPage | undefined> {
    const views = position.flatMap(
      ({ collection }) => viewOfWebhook(this.#webhook, collection, this.#parts) ?? [],
    );
    try {
      return await readFeed(this.#parts.feed, views, position, pageEnd);
    } catch (error) {
      if (error instanceof Gone) return undefined;
      throw error;
    }
  }

  async #take({ events, position, isEnd }: FeedPage): Promise<Read> {
    if (position === this.#reading && events.length === 0) return { due: [], lost: 0, isEnd };
    this.#reading = position;
    const { types } = this.#webhook;
    const page: OpenPage = { position, left: 0 };
    const wanted = events.filter(({ kind }) => types.includes(kind));
    const found = await Promise.all(wanted.map((event) => this.#dueOf(event, page)));
    const due = found.filter((each) => each !== undefined);
    page.left = due.length;
    this.#open(page);
    return { due, lost: 0, isEnd };
  }

  /** Pages without events do not add up while an earlier one waits for its responses. */
  #open(page: OpenPage): void {
    const last = this.#pages.at(-1);
    if (page.left === 0 && last !== undefined) last.position = page.position;
    else this.#pages.push(page);
  }

  /**
   * `undefined` if the event was tried already: the service may have stopped after it delivered the event, and before all
   * earlier ones were tried.
   */
  async #dueOf({ text, collection, change, kind }: FeedEvent, page: OpenPage): Promise<Due | undefined> {
    const { records, feed } = this.#parts;
    const { id: webhook } = this.#webhook;
    const { id, sequence, at } = change;
    const event = feed.positions.eventId(collection, sequence);
    if (at < this.#startedAt && (await records.delivery(webhook, event)) !== undefined) return undefined;
    return {
      attempted: { webhook, event, type: `${collection}.${kind}`, collection, sequence, kind, attempts: 0 },
      version: undefined,
      body: text,
      order: `${collection}/${id}`,
      page,
    };
  }

  /** Continues from a position, or from the next place that the log has. */
  async #continue(from: Position): Promise<Read> {
    const { position, lost, isForeign } = await continued(from, this.#parts);
    this.#isVerified = true;
    this.#reading = position;
    if (this.#pages.length === 0) this.#tried = position;
    else this.#open({ position, left: 0 });
    const { id } = this.#webhook;
    const { warn } = this.#parts;
    if (isForeign)
      warn(`the webhook ${id} continues after the last change, because the store was restored or replaced`);
    if (lost > 0) warn(`the webhook ${id} lost ${lost} changes that the history no longer has`);
    return { due: [], lost, isEnd: false };
  }
}

/**
 * Moves a position to where the log can continue, and says how many changes this skips. If the store was restored, so that its
 * history is not the one that the webhook has read (`isForeign`), the position is after the last change.
 */
async function continued(
  position: Position,
  { store, feed }: ReaderParts,
): Promise<{ position: Position; lost: number; isForeign: boolean }> {
  let lost = 0;
  let isForeign = false;
  const marks = await Promise.all(
    position.map(async (mark): Promise<Mark> => {
      const { collection, sequence } = mark;
      if (await isOfOtherHistory(mark, feed)) {
        isForeign = true;
        return (await feed.log.now([collection]))[0] ?? mark;
      }
      const { changes, sequence: head } = await store.changesAfter(collection, sequence, 1);
      const next = (changes[0]?.sequence ?? head + 1) - 1;
      lost += next - sequence;
      return next === sequence ? mark : { collection, sequence: next, check: noChange };
    }),
  );
  return { position: marks, lost, isForeign };
}

async function isOfOtherHistory(mark: Mark, feed: WebhookFeed): Promise<boolean> {
  if (mark.check === noChange && mark.sequence === 0) return false;
  try {
    await feed.log.verify(mark);
    return false;
  } catch (error) {
    if (error instanceof Gone) return error.message === goneReasons.otherHistory;
    throw error;
  }
}

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
