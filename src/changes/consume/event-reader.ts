/** The place of a consumer in the logs: where it is, in the stored form, and the events after it. */
import { startOf } from "../../store/port/change-log.ts";
import {
  changesBetween,
  earlierOf,
  type LogPlace,
  logStart,
  placeBefore,
} from "../../store/port/log-place.ts";
import { type FeedEvent, type FeedPage, readFeed } from "../feed.ts";
import { type Mark, noChange, type Position } from "../position.ts";
import { Gone, goneReasons } from "../shared-log.ts";
import type { Due } from "./attempts.ts";
import {
  type ConsumedFeed,
  type ConsumeParts,
  type Consumer,
  collectionsOf,
  everyCollection,
} from "./consumer.ts";
import type { ConsumerState, DeliveryRecord } from "./consumer-records.ts";

/** The most events of a page, and the most text in characters. */
const pageEnd = { events: 50, text: 256 * 1024, splitsCommits: true };

/** A page of events, some of which have no outcome yet. */
export interface OpenPage {
  /** Where the consumer is after these events. */
  position: Position;
  /** Events without an outcome. */
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
interface ReaderParts extends ConsumeParts {
  feed: ConsumedFeed;
  /** Whether the end of the logs must be after every change that is confirmed. Otherwise, the reader shares reads with others. */
  readsAll?: boolean | undefined;
}

/** Reads the events of one consumer. */
export class EventReader {
  readonly #parts: ReaderParts;
  readonly #consumer: Consumer;
  readonly #startedAt: number;
  /** In the order in which they were read. */
  readonly #pages: OpenPage[] = [];
  /** Where it reads. */
  #reading: Position;
  /** Before this, every event was tried. */
  #tried: Position;
  #isVerified = false;

  private constructor(parts: ReaderParts, consumer: Consumer, position: Position) {
    this.#parts = parts;
    this.#consumer = consumer;
    this.#startedAt = parts.clock.now();
    this.#reading = position;
    this.#tried = position;
  }

  /** Opens it at the stored place. Without a state, the consumer begins after the last change. */
  static async open(
    parts: ReaderParts,
    consumer: Consumer,
    state: ConsumerState | undefined,
  ): Promise<EventReader> {
    const names = collectionsOf(consumer, parts);
    const marks = state?.marks ?? (await placeNow(names, parts));
    return new EventReader(parts, consumer, positionOf(marks, names));
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
    const names = collectionsOf(this.#consumer, this.#parts);
    return names.length === this.#reading.length ? this.#reading : positionOf(marksOf(this.#reading), names);
  }

  /** `undefined` if the log does not have all changes after the position. */
  async #page(position: Position): Promise<FeedPage | undefined> {
    const { feed, readsAll } = this.#parts;
    const views = position.flatMap(({ collection }) => this.#consumer.viewOf(collection) ?? []);
    try {
      return await readFeed(feed, views, position, { ...pageEnd, isShared: readsAll !== true });
    } catch (error) {
      if (error instanceof Gone) return undefined;
      throw error;
    }
  }

  async #take({ events, position, isEnd }: FeedPage): Promise<Read> {
    if (position === this.#reading && events.length === 0) return { due: [], lost: 0, isEnd };
    this.#reading = position;
    const page: OpenPage = { position, left: 0 };
    const wanted = events.filter((event) => this.#isWanted(event));
    const found = await Promise.all(wanted.map((event) => this.#dueOf(event, page)));
    const due = found.filter((each) => each !== undefined);
    page.left = due.length;
    this.#open(page);
    return { due, lost: 0, isEnd };
  }

  #isWanted({ kind, change }: FeedEvent): boolean {
    const { types, skips } = this.#consumer;
    return types.includes(kind) && skips?.(change.principal) !== true;
  }

  /** Pages without events do not add up while an earlier one waits for its outcomes. */
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
    const { id: consumer } = this.#consumer;
    const { id, sequence, at } = change;
    const event = feed.positions.eventId(collection, sequence);
    if (at <= this.#startedAt && (await records.delivery(consumer, event)) !== undefined) return undefined;
    return {
      attempted: {
        consumer,
        event,
        type: `${collection}.${kind}`,
        collection,
        sequence,
        kind,
        attempts: 0,
      },
      version: undefined,
      body: text,
      principal: change.principal,
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
    const { label } = this.#consumer;
    const { warn } = this.#parts;
    if (isForeign)
      warn(`${label} continues after the last change, because the store was restored or replaced`);
    if (lost > 0) warn(`${label} lost ${lost} changes that the history no longer has`);
    return { due: [], lost, isEnd: false };
  }
}

/**
 * Moves a position to where the log can continue, and says how many changes this skips. If the store was restored, so that its
 * history is not the one that the consumer has read (`isForeign`), the position is after the last change.
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
      const next = startOf(await store.changesAfter(collection, sequence, 1));
      lost += changesBetween(sequence, next);
      return next === sequence ? mark : { collection, sequence: next, check: noChange };
    }),
  );
  return { position: marks, lost, isForeign };
}

async function isOfOtherHistory(mark: Mark, feed: ConsumedFeed): Promise<boolean> {
  if (mark.check === noChange && mark.sequence === logStart) return false;
  try {
    await feed.log.verify(mark);
    return false;
  } catch (error) {
    if (error instanceof Gone) return error.message === goneReasons.otherHistory;
    throw error;
  }
}

type Marks = ConsumerState["marks"];

/** The place after the last change of each collection, in the stored form. */
export async function placeNow(
  names: readonly string[],
  { feed }: Pick<ConsumeParts, "feed">,
): Promise<Marks> {
  return feed === undefined ? {} : marksOf(await feed.log.now(names));
}

/** A position in the stored form. */
export function marksOf(position: Position): Marks {
  return Object.fromEntries(
    position.map(({ collection, sequence, check }) => [collection, [sequence, check]]),
  );
}

/** The changes that the log must keep for a consumer at these marks that still retries these deliveries (`LogKeeper`). */
export function owedAt(
  { collections }: Pick<Consumer, "collections">,
  marks: Marks,
  retrying: Iterable<Pick<DeliveryRecord, "collection" | "sequence">> = [],
): Readonly<Record<string, LogPlace>> {
  const names = collections.includes(everyCollection)
    ? [...Object.keys(marks), everyCollection]
    : collections;
  const owes = Object.fromEntries(names.map((name) => [name, marks[name]?.[0] ?? logStart]));
  for (const { collection, sequence } of retrying) {
    const before = placeBefore(sequence);
    owes[collection] = earlierOf(owes[collection] ?? before, before);
  }
  return owes;
}

/** The stored place in these collections as a position. */
export function positionOf(marks: Marks, names: readonly string[]): Position {
  return names.map((collection): Mark => {
    const [sequence = logStart, check = noChange] = Object.hasOwn(marks, collection)
      ? (marks[collection] ?? [])
      : [];
    return { collection, sequence, check };
  });
}
