/** Responds to the request for a feed, with a page or with a stream: reads the events, and makes the response. */
import { setTimeout as pass } from "node:timers/promises";
import { type FeedPage, readFeed } from "../../changes/feed.ts";
import type { Position } from "../../changes/position.ts";
import { Gone } from "../../changes/shared-log.ts";
import { Problem } from "../../errors.ts";
import { onGone } from "../admission/gone.ts";
import type { FeedAsked } from "../operations/feed-parameters.ts";
import type { Subscription } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { feedContentTypeOf } from "../protocol/accept.ts";
import {
  type HttpRequest,
  type HttpResponse,
  type LiveBody,
  noStore,
  withBody,
} from "../protocol/message.ts";
import type { Data, Feed, Service } from "../service.ts";
import { streamFrames } from "./stream.ts";
import { Subscriber, withNew } from "./subscriber.ts";

/** Text of the events on one page, in characters. A page can be longer by one commit. */
const maxPageText = 2 * 1024 * 1024;

/** Reads a page, or starts a stream. Throws INVALID_CURSOR, POSITION_GONE, QUOTA_EXCEEDED and UNAVAILABLE. */
export async function readEvents(
  service: Service,
  asParsed: Subscription,
  request: HttpRequest,
): Promise<Result> {
  const feed = service.feed as Feed; // without it, the path does not exist
  const subscription = asParsed.isOpen ? await withAllCollections(service, asParsed) : asParsed;
  const { asked, type } = subscription;
  const name = request.ticket.caller();
  if (type === "text/event-stream") {
    const leave = request.method === "HEAD" ? () => {} : await request.ticket.stream(name);
    try {
      const from = await positionOf(feed, subscription).catch(toGone);
      const start = { subscription, request, from, leave };
      const live = (gone: AbortSignal) => streamFrames(service, start, gone);
      return { kind: "response", response: streamResponse({ live, stopping: feed.stopping }) };
    } catch (error) {
      leave();
      throw error;
    }
  }
  const waitMs = request.method === "HEAD" ? 0 : asked.waitMs;
  const leave = waitMs > 0 ? await request.ticket.stream(name) : undefined;
  try {
    const page = await whileKept(() => pageOf(service, subscription, { request, waitMs }));
    const events = page.events.map(({ text }) => text);
    const next = feed.positions.format(page.position);
    return { kind: "response", response: eventsResponse({ subscription, events, next }, request) };
  } finally {
    leave?.();
  }
}

/** With the collections that another instance has just created: a position can have them, and `now` is after their changes. */
async function withAllCollections({ store }: Data, { caller, renew }: Subscription): Promise<Subscription> {
  await store.logHeads([]);
  return renew(caller);
}

function toGone(error: unknown): Gone {
  if (error instanceof Gone) return error;
  throw error;
}

/** The position from which the request asks for events. Throws Gone, and INVALID_CURSOR. */
async function positionOf(feed: Feed, { views, asked, isOpen }: Subscription): Promise<Position> {
  const names = views.map(({ collection }) => collection.name);
  if (asked.since === "now") return feed.log.now(names);
  if (asked.since === "start") return feed.log.start(names);
  const read = feed.positions.read(asked.since, names, isOpen);
  if (read.kind === "invalid") throw invalidPosition(asked);
  if (read.kind === "foreign") throw new Gone("this position is of another store");
  await Promise.all(read.position.map((mark) => feed.log.verify(mark)));
  return withNew(read.position, names);
}

function invalidPosition({ sinceIn }: FeedAsked): Problem {
  return new Problem(
    "INVALID_CURSOR",
    'The position is not valid for this feed. Use a position of the same collections: from a "next" or "monitor" link, or from an "id:" line of a stream. The "id" in an event is not a position.',
    {
      violations: [
        {
          ...sinceIn,
          code: "position",
          detail: `"${sinceIn.name}" must be a position of this feed, "now" or "start"`,
        },
      ],
    },
  );
}

async function whileKept<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    throw new Problem(
      "POSITION_GONE",
      `The service cannot continue from here: ${error.message}. List the resources again, and follow the "monitor" link of the list.`,
      { cause: error },
    );
  }
}

/** A page. An empty one waits for its first event for `waitMs`. */
async function pageOf(
  service: Service,
  subscription: Subscription,
  { request, waitMs }: { request: HttpRequest; waitMs: number },
): Promise<FeedPage> {
  const feed = service.feed as Feed;
  const end = { events: subscription.asked.limit, text: maxPageText, isShared: false };
  if (waitMs === 0) return readFeed(feed, subscription.views, await positionOf(feed, subscription), end);
  const subscriber = new Subscriber(service, subscription, request);
  const gone = new AbortController();
  const stopWatching = onGone(request, () => gone.abort());
  const leave = feed.watch.join();
  try {
    const over = AbortSignal.any([AbortSignal.timeout(waitMs), gone.signal, feed.stopping]);
    let from = await positionOf(feed, subscription);
    for (;;) {
      const seen = subscriber.commits();
      await subscriber.refresh();
      const page = await readFeed(feed, subscriber.views, withNew(from, subscriber.names), end);
      if (page.events.length > 0 || over.aborted) return page;
      from = page.position;
      if (page.isEnd) await feed.watch.untilCommit(seen, over);
      else await pass(0);
    }
  } finally {
    leave();
    stopWatching();
  }
}

/** A page of events. It always has a link to the next page, which begins at the position `next`. */
function eventsResponse(
  { subscription, events, next }: { subscription: Subscription; events: readonly string[]; next: string },
  request: HttpRequest,
): HttpResponse {
  const { target, type, asked } = subscription;
  const headers = {
    "content-type": feedContentTypeOf(type),
    "cache-control": noStore,
    "page-limit": String(asked.limit),
    link: `<${target.path}?${[...target.query, `since=${next}`].join("&")}>; rel="next"`,
  };
  return withBody(request, `[${events.join(",")}]`, { status: 200, headers });
}

/** A stream of events. Proxies must not change or collect it. */
function streamResponse(body: LiveBody): HttpResponse {
  const headers = {
    "content-type": feedContentTypeOf("text/event-stream"),
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  };
  return { status: 200, headers, body };
}
