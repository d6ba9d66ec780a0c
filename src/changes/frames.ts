/** Frames: events in the form in which a stream sends them (server-sent events, the HTML standard, section 9.2.5). */
import type { FeedPage } from "./feed.ts";
import type { Position, Positions } from "./position.ts";
import { SharedReads } from "./shared-reads.ts";

/** The frames of a page. */
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
