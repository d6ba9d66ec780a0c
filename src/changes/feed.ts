/** The feed: the events of some collections for one subscriber, page by page from a position, and as the frames of a stream. */
import { hash } from "node:crypto";
import type { ChangeKind, LoggedChange } from "../store/port/change-log.ts";
import { type LogPlace, logStart } from "../store/port/log-place.ts";
import { type EventParts, eventText, isConditional, kindFor, maySee, type View } from "./event.ts";
import type { LastState, LastStates } from "./last-states.ts";
import { checkOf, type Mark, type Position, type Positions } from "./position.ts";
import { type Changes, changesAtOnce, type SharedLog } from "./shared-log.ts";
import { SharedReads } from "./shared-reads.ts";

/** What feeds are read with. */
export interface FeedParts extends EventParts {
  log: SharedLog;
  lastStates: LastStates;
}

/** Where a page ends. */
export interface PageEnd {
  /** Events. Unless it splits commits, a page can have more, to keep the changes of one commit together. */
  events: number;
  /** Text of the events, in characters. */
  text: number;
  /** Whether subscribers that wait for commits share the read. Otherwise the page has every confirmed change. */
  isShared: boolean;
  /** Whether a page can end inside a commit. @default false */
  splitsCommits?: boolean;
  /** Changes that are looked at, about. @default 2,000: that takes only milliseconds, even if the subscriber sees none of them */
  changes?: number;
}

/** One event of a feed. */
export interface FeedEvent {
  /** Its JSON text. */
  text: string;
  /** A subscriber who has this event can continue from here. Inside a commit, it is the position before the commit. */
  position: Position;
  /** The collection, the change, and what the change is for the subscriber. */
  collection: string;
  change: LoggedChange;
  kind: ChangeKind;
}

/** Some events of a feed. */
export interface FeedPage {
  /** In order for each collection. */
  events: readonly FeedEvent[];
  /** After these events. */
  position: Position;
  /** Whether there were no further changes. */
  isEnd: boolean;
}

/** The most changes that one page reads. */
const maxLookedAt = 2_000;

/**
 * The events after a position, for the views of the same collections. Throws Gone if the log does not have all changes after
 * it. A page can be empty and not be the end, if the subscriber does not see the changes.
 */
export async function readFeed(
  parts: FeedParts,
  views: readonly View[],
  from: Position,
  end: PageEnd,
): Promise<FeedPage> {
  const page = new PageDraft(parts, from, end);
  for (const view of inFairOrder(views, parts.positions.format(from))) {
    const { name } = view.collection;
    for (let isRead = false; !isRead; ) {
      if (page.isFull) return page.finish(false);
      await parts.log.takeTurn(); // other subscribers can have read these changes
      const read = await parts.log.after(name, page.placeIn(name), end);
      isRead = (await page.take(view, read)) && read.isEnd;
    }
  }
  return page.finish(true);
}

/**
 * The views in an order that depends on the position, so that a busy collection does not delay the others page after page. The
 * text of a position is encrypted: so the first view is practically random.
 */
function inFairOrder(views: readonly View[], position: string): readonly View[] {
  if (views.length < 2) return views;
  const first = hash("sha256", position, "buffer").readUInt32BE() % views.length;
  return [...views.slice(first), ...views.slice(0, first)];
}

/** A page while it is read. */
class PageDraft {
  readonly #parts: FeedParts;
  readonly #end: PageEnd;
  readonly #events: FeedEvent[] = [];
  #position: Position;
  #text = 0;
  #lookedAt = 0;

  constructor(parts: FeedParts, from: Position, end: PageEnd) {
    this.#parts = parts;
    this.#position = from;
    this.#end = end;
  }

  get isFull(): boolean {
    const { events, text, changes = maxLookedAt } = this.#end;
    return this.#events.length >= events || this.#text >= text || this.#lookedAt >= changes;
  }

  placeIn(collection: string): LogPlace {
    return this.#position.find((mark) => mark.collection === collection)?.sequence ?? logStart;
  }

  /** Takes changes up to the end of the page, and then of the commit. Returns whether it took all of them. */
  async take(view: View, read: Changes): Promise<boolean> {
    const { changes } = read;
    const lastState = isConditional(view)
      ? this.#parts.lastStates.of(view.collection.name, read, this.#end)
      : undefined;
    const byRule = view.filter === undefined ? view : { ...view, filter: undefined };
    for (const [index, change] of changes.entries()) {
      if (index % changesAtOnce === changesAtOnce - 1) await this.#parts.log.takeTurn();
      this.#lookedAt++;
      const isSame = change.group !== undefined && changes[index + 1]?.group === change.group;
      const isWithin = isSame && this.#end.splitsCommits !== true;
      if (!isWithin) this.#advance(markOf(view.collection.name, change));
      let kind = kindFor(view, change);
      if (lastState !== undefined) {
        const ofRule = view.filter === undefined ? kind : kindFor(byRule, change);
        // Without a filter, an event that a resource left is the same in both cases.
        const mayDiffer = view.filter === undefined ? kind !== "deleted" : true;
        if (ofRule !== undefined && mayDiffer && !(await isStillSeen(view, index, lastState)))
          kind = ofRule === "deleted" ? "deleted" : undefined; // a filter must not tell what was withdrawn
      }
      if (kind !== undefined) this.#add(view, change, kind);
      if (!isWithin && this.isFull) return index === changes.length - 1;
    }
    return true;
  }

  finish(isEnd: boolean): FeedPage {
    return { events: this.#events, position: this.#position, isEnd };
  }

  #add(view: View, change: LoggedChange, kind: ChangeKind): void {
    const text = eventText(this.#parts, view, change, kind);
    const collection = view.collection.name;
    this.#events.push({ text, position: this.#position, collection, change, kind });
    this.#text += text.length;
  }

  /** A feed of one collection has the same positions for every subscriber, so they share the object. */
  #advance(mark: Mark): void {
    if (this.#position.length === 1) this.#position = positionOf(mark);
    else
      this.#position = [...this.#position.filter(({ collection }) => collection !== mark.collection), mark];
  }
}

/** Whether the subscriber may see the last states for a change. If the store does not know one of them: no. */
async function isStillSeen(view: View, index: number, lastState: LastState): Promise<boolean> {
  const states = await lastState(index);
  return states.every((state) => state !== undefined && maySee(view, state));
}

const marks = new WeakMap<LoggedChange, Mark>();

function markOf(collection: string, change: LoggedChange): Mark {
  const known = marks.get(change) ?? { collection, sequence: change.sequence, check: checkOf(change) };
  marks.set(change, known);
  return known;
}

const positions = new WeakMap<Mark, Position>();

function positionOf(mark: Mark): Position {
  const known = positions.get(mark) ?? [mark];
  positions.set(mark, known);
  return known;
}

/** The events of a page in the form in which a stream sends them (server-sent events, the HTML standard, section 9.2.5). */
export interface Frames {
  bytes: Buffer;
  /** After these frames. */
  position: Position;
  /** Whether there were no further changes. */
  isEnd: boolean;
}

/** The frames that are kept for other subscribers, in bytes. */
const maxKeptBytes = 8 * 1024 * 1024;

/** The frames of subscribers that see the same and are at the same place. */
export function createSharedFrames(): SharedReads<Frames> {
  return new SharedReads({ maxSize: maxKeptBytes, sizeOf: ({ bytes }) => bytes.length });
}

/** The frames of a page. */
export function framesOf({ events, position, isEnd }: FeedPage, positions: Positions): Frames {
  const frames = events.map((event) => `${idLine(positions, event.position)}data: ${event.text}\n\n`);
  return { bytes: Buffer.from(frames.join("")), position, isEnd };
}

/** A frame without an event. Browsers remember its id, so a quiet stream never falls behind the log. */
export function idFrame(positions: Positions, position: Position): string {
  return `${idLine(positions, position)}\n`;
}

/** The line with the position from which the client can continue. */
export function idLine(positions: Positions, position: Position): string {
  return `id: ${positions.format(position)}\n`;
}
