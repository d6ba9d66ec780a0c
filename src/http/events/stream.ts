/** A stream of events: server-sent events (the HTML standard, section 9.2), until the client leaves or the service stops. */
import { isConditional } from "../../changes/event.ts";
import { type Frames, framesOf, idFrame, idLine, readFeed } from "../../changes/feed.ts";
import type { Position } from "../../changes/position.ts";
import { Gone } from "../../changes/shared-log.ts";
import type { Subscription } from "../operations/operation.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Feed, Service } from "../service.ts";
import { Subscriber, withNew } from "./subscriber.ts";

/** Events that are sent together, and their text in characters. A slow client holds no more in memory. */
const together = { events: 500, text: 256 * 1024, isShared: true };

/** How long a client waits before it connects again, in milliseconds. */
const retryMs = 3_000;

/** When the service stops, each client waits for another time up to this one, in milliseconds. */
const maxRetryAtStopMs = 5_000;

/** The time between two positions that a quiet stream sends, in milliseconds. */
export const heartbeatMs = 15_000;

/** A stream before it starts. */
export interface StreamStart {
  subscription: Subscription;
  request: HttpRequest;
  /** The position from which it starts; a Gone if the log cannot continue from there. */
  from: Position | Gone;
  /** Ends the count of this stream. */
  leave: () => void;
}

/** The frames of a stream, until `gone` is aborted. */
export async function* streamFrames(
  service: Service,
  { subscription, request, from, leave }: StreamStart,
  gone: AbortSignal,
): AsyncGenerator<string | Buffer> {
  const feed = service.feed as Feed;
  const subscriber = new Subscriber(service, subscription, request);
  const stopWatching = feed.watch.join();
  const { lags } = feed;
  const over = AbortSignal.any([gone, feed.stopping]);
  try {
    let position: Position;
    if (from instanceof Gone) {
      position = await feed.log.now(subscriber.names);
      yield `retry: ${retryMs}\n${resyncFrame(feed, position, from)}`;
    } else {
      position = from;
      yield `retry: ${retryMs}\n${idFrame(feed.positions, position)}`;
    }
    let sentAt = performance.now();
    while (!gone.aborted) {
      if (feed.stopping.aborted) {
        yield `retry: ${Math.floor(Math.random() * maxRetryAtStopMs)}\n\n`;
        return;
      }
      const seen = subscriber.commits();
      lags?.noteNews(subscriber);
      if (!(await isAllowed(subscriber))) return;
      const view = subscriber.viewsName;
      const next = await nextFrames(feed, subscriber, { position, seen });
      if (next.bytes.length > 0 && subscriber.isOld) {
        // The read has taken long.
        if (!(await isAllowed(subscriber))) return;
        if (subscriber.viewsName !== view) continue;
      }
      position = next.position;
      const isQuiet = performance.now() - sentAt >= feed.heartbeatMs;
      if (next.bytes.length > 0 || isQuiet) {
        yield next.bytes.length === 0 ? idFrame(feed.positions, position) : next.bytes;
        sentAt = performance.now();
      }
      const until = sentAt + feed.heartbeatMs;
      if (next.isEnd) lags?.noteEnd(subscriber);
      if (next.isEnd && !(await isAllowedUntilNews(feed, subscriber, { seen, until, over }))) return;
    }
  } finally {
    stopWatching();
    lags?.noteEnd(subscriber);
    leave();
  }
}

/** A client that connects again gets the reason as a response. */
async function isAllowed(subscriber: Subscriber): Promise<boolean> {
  try {
    await subscriber.refresh();
    return true;
  } catch {
    return false;
  }
}

async function nextFrames(
  feed: Feed,
  subscriber: Subscriber,
  { position, seen }: { position: Position; seen: ReadonlyMap<string, number> },
): Promise<Frames> {
  const { views, names, viewsName } = subscriber;
  const from = withNew(position, names);
  const place = `${feed.positions.format(from)} ${viewsName}`;
  try {
    const since = [...seen.values()].join();
    const read = async () => framesOf(await readFeed(feed, views, from, together), feed.positions);
    // Frames that were read before a change can have what the change has withdrawn.
    const isKept = !views.some(isConditional);
    return await (isKept
      ? feed.frames.read(place, since, read)
      : feed.frames.readTogether(place, since, read));
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    const now = await feed.log.now(names);
    return { bytes: Buffer.from(resyncFrame(feed, now, error)), position: now, isEnd: false };
  }
}

/**
 * Waits for a commit, for the next heartbeat (at `until`, a time of `performance.now()`), or for the end of the stream. Checks
 * the credential about every second while it waits. Returns whether the caller can still follow.
 */
async function isAllowedUntilNews(
  feed: Feed,
  subscriber: Subscriber,
  { seen, until, over }: { seen: ReadonlyMap<string, number>; until: number; over: AbortSignal },
): Promise<boolean> {
  const isNew = () => [...seen].some(([name, commits]) => feed.watch.commits(name) !== commits);
  for (;;) {
    const now = performance.now(); // the watch wakes waiters whose time is over only once a second
    await feed.watch.untilCommit(seen, over, subscriber.hasCredential ? Math.min(now, until) : until);
    if (over.aborted || isNew() || performance.now() >= until) return true;
    if (!(await isAllowed(subscriber))) return false;
  }
}

/** The client has missed events. It must list the resources again. */
function resyncFrame(feed: Feed, position: Position, { message }: Gone): string {
  const event = {
    specversion: "1.0",
    id: feed.positions.format(position),
    source: "/",
    type: "holdfast.resync",
    time: new Date().toISOString(),
    datacontenttype: "application/json",
    data: { reason: message },
  };
  return `${idLine(feed.positions, position)}data: ${JSON.stringify(event)}\n\n`;
}
