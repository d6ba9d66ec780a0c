/** Subscribers that are cut off and come back, as the property of the feed needs them. */
import assert from "node:assert/strict";
import { type CloudEvent, linkOf, sinceOf } from "../http/follow.ts";
import { readEventStream } from "./read-stream.ts";

/** Chooses a whole number below `n`. */
export type Choose = (n: number) => number;

/** How a subscriber follows. */
export interface Following {
  /** Services on the same store; each request chooses one. */
  origins: readonly string[];
  headers: Record<string, string>;
  /** The path with its filter, without a position. */
  path: string;
  since: string;
  form: "stream" | "pages";
  /** Events on a page. */
  limit: number;
  /** The most events of a connection of a stream before it is cut. @default 8 */
  eventsPerConnection?: number;
  choose: Choose;
  /** Whether the events are all there. */
  isOver(events: ReadonlyMap<string, CloudEvent>): boolean;
}

/** Follows until it has everything. Returns the events without repetitions, in the order in which each came first. */
export async function followToEnd(following: Following): Promise<CloudEvent[]> {
  const seen = new Map<string, CloudEvent>();
  const note = (event: CloudEvent) => {
    assert.notEqual(event.type, "holdfast.resync");
    const known = seen.get(event.id);
    if (known === undefined) seen.set(event.id, event);
    else assert.deepEqual(event, known, "a repetition is equal");
  };
  if (following.form === "stream") await followStream(following, seen, note);
  else await followPages(following, seen, note);
  return [...seen.values()];
}

type Seen = ReadonlyMap<string, CloudEvent>;

async function followStream(following: Following, seen: Seen, note: (event: CloudEvent) => void) {
  const { origins, headers, path, choose, isOver, eventsPerConnection = 8 } = following;
  let position = following.since;
  while (!isOver(seen)) {
    const cut = new AbortController();
    let left = 1 + choose(eventsPerConnection); // then the connection is cut
    const target = `${origins[choose(origins.length)]}${path}`;
    const all = { ...headers, accept: "text/event-stream", "last-event-id": position };
    const response = await fetch(target, { headers: all, signal: cut.signal });
    assert.equal(response.status, 200, await textOfRefusal(response));
    for await (const { id, data } of readEventStream(response)) {
      if (id !== undefined) position = id;
      if (data === undefined) continue;
      note(JSON.parse(data));
      if (--left === 0 || isOver(seen)) break;
    }
    cut.abort();
  }
}

async function followPages(following: Following, seen: Seen, note: (event: CloudEvent) => void) {
  const { origins, headers, path, limit, choose, isOver } = following;
  let position = following.since;
  /** The group of the last event of each collection. */
  const last = new Map<string, string | undefined>();
  while (!isOver(seen)) {
    const query = `limit=${limit}&wait=${choose(3) === 0 ? 1 : 0}&since=${position}`;
    const target = `${origins[choose(origins.length)]}${path}${path.includes("?") ? "&" : "?"}${query}`;
    const response = await fetch(target, { headers });
    assert.equal(response.status, 200, await textOfRefusal(response));
    const events = (await response.json()) as CloudEvent[];
    for (const [source, ofOne] of Map.groupBy(events, (event) => event.source)) {
      const first = ofOne[0]?.group;
      assert.ok(first === undefined || first !== last.get(source), "a page ends between two commits");
      last.set(source, ofOne.at(-1)?.group);
    }
    for (const event of events) note(event);
    position = sinceOf(linkOf({ headers: { link: response.headers.get("link") ?? "" } }, "next"));
  }
}

async function textOfRefusal(response: Response): Promise<string> {
  return response.status === 200 ? "" : await response.text();
}
