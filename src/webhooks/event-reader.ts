/** Reads the events of one webhook from the logs, and knows the position before which every event was tried. */
import { type FeedEvent, type FeedPage, readFeed } from "../changes/feed.ts";
import { Gone } from "../changes/log.ts";
import type { Position } from "../changes/position.ts";
import type { Due } from "./attempts.ts";
import type { WebhookFeed, WebhookParts } from "./parts.ts";
import { collectionsOf, continued, marksOf, placeNow, positionOf } from "./place.ts";
import type { WebhookState } from "./records.ts";
import { viewOfWebhook } from "./rules.ts";
import type { Webhook } from "./webhook.ts";

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

/** The place of one webhook in the logs. */
export class EventReader {
  readonly #parts: WebhookParts;
  readonly #feed: WebhookFeed;
  readonly #webhook: Webhook;
  readonly #startedAt: number;
  /** In the order in which they were read. */
  readonly #pages: OpenPage[] = [];
  /** Where it reads. */
  #reading: Position;
  /** Before this, every event was tried. */
  #tried: Position;
  #isVerified = false;

  private constructor(parts: WebhookParts & { feed: WebhookFeed }, webhook: Webhook, position: Position) {
    this.#parts = parts;
    this.#feed = parts.feed;
    this.#webhook = webhook;
    this.#startedAt = parts.now();
    this.#reading = position;
    this.#tried = position;
  }

  /** Opens it at the stored place. A state is created with its webhook. Without one, the webhook begins after the last change. */
  static async open(
    parts: WebhookParts & { feed: WebhookFeed },
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
      return await readFeed(this.#feed, views, position, pageEnd);
    } catch (error) {
      if (error instanceof Gone) return undefined;
      throw error;
    }
  }

  async #take({ events, position, isEnd }: FeedPage): Promise<Read> {
    if (position === this.#reading && events.length === 0) return { due: [], lost: 0, isEnd };
    this.#reading = position;
    const { types } = this.#webhook;
    const wanted = events.filter(({ kind }) => types.includes(kind)).map((event) => this.#toDue(event));
    const due = await this.#untried(wanted);
    const page = this.#openPage(position, due.length);
    return { due: due.map((each) => ({ ...each, page })), lost: 0, isEnd };
  }

  /** Pages without events do not add up while an earlier one waits for its responses. */
  #openPage(position: Position, left: number): OpenPage {
    const last = this.#pages.at(-1);
    const page = left === 0 && last !== undefined ? last : { position, left };
    page.position = position;
    if (page !== last) this.#pages.push(page);
    return page;
  }

  /** The service may have stopped after it delivered an event, and before all earlier ones were tried. */
  async #untried(events: readonly Due[]): Promise<readonly Due[]> {
    const known = await Promise.all(
      events.map(({ at, attempted: { webhook, event } }) =>
        at < this.#startedAt ? this.#parts.records.delivery(webhook, event) : undefined,
      ),
    );
    return events.filter((_, n) => known[n] === undefined);
  }

  #toDue({ text, collection, change, kind }: FeedEvent): Due {
    const { sequence } = change;
    const event = this.#feed.positions.eventId(collection, sequence);
    const type = `${collection}.${kind}`;
    const { id: webhook } = this.#webhook;
    return {
      attempted: { webhook, event, type, collection, sequence, kind, attempts: 0 },
      version: undefined,
      body: text,
      order: `${collection}/${change.id}`,
      at: change.at,
      page: undefined,
    };
  }

  /** Continues from a position, or from the next place that the log has. */
  async #continue(from: Position): Promise<Read> {
    const { position, lost, isForeign } = await continued(from, this.#parts);
    this.#isVerified = true;
    this.#reading = position;
    if (this.#pages.length === 0) this.#tried = position;
    else this.#openPage(position, 0);
    this.#warn(lost, isForeign);
    return { due: [], lost, isEnd: false };
  }

  #warn(lost: number, isForeign: boolean): void {
    const { id } = this.#webhook;
    if (isForeign)
      this.#parts.warn(
        `the webhook ${id} continues after the last change, because the store was restored or replaced`,
      );
    if (lost > 0) this.#parts.warn(`the webhook ${id} lost ${lost} changes that the history no longer has`);
  }
}
