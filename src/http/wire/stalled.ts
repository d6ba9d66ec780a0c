/**
 * Clients that do not read their answers. Node reports a connection when its queue of unsent bytes has not moved for a
 * while. This says little about the client: the kernel takes about 1.5 MB at a time, so a client that reads 20 kB a
 * second looks idle for more than a minute.
 */
import type { Socket } from "node:net";
import { type Budget, isUsedUp } from "../limits/budget.ts";
import { type Connection, isAtWork } from "./connections.ts";

/** How long a client may leave its answer unread, in milliseconds. */
export interface StallBounds {
  /** How often a connection is checked. It is closed if the memory for answers is used up. @default 60000 */
  stalledTimeoutMs: number;
  /** After this time the connection is always closed. @default 600000 */
  longestStallMs: number;
  /** A client that reads its answer more slowly on average is closed where others need the room. @default 10000 */
  slowestBytesPerSecond: number;
}

/**
 * Waits until an answer of so many bytes has gone out. Where others need its room, the connection of a client that reads it
 * too slowly is closed: a few bytes a minute move the queue of unsent bytes, so that Node never reports the connection.
 */
export async function atFairPace<T>(
  sent: Promise<T>,
  { connection, bytes }: { connection: Socket; bytes: number },
  { bounds, budget }: { bounds: StallBounds; budget: Budget },
): Promise<T> {
  const begin = performance.now();
  const fairMs = bounds.stalledTimeoutMs + (bytes / bounds.slowestBytesPerSecond) * 1_000;
  const timer = setInterval(() => {
    if (isUsedUp(budget) && performance.now() - begin >= fairMs) connection.destroy();
  }, bounds.stalledTimeoutMs).unref();
  return sent.finally(() => clearInterval(timer));
}

/** When a connection was last seen stalled, and since when it is stalled; both by `performance.now()`. */
const stall = Symbol("stall");

type Stalled = Connection & { [stall]?: { seen: number; since: number } };

/**
 * Makes the listener for `timeout` of a server or of one of its connections. It closes an idle connection. It does not
 * close a connection while the service works on a request: other limits apply to that work.
 */
export function createTimeoutListener(bounds: StallBounds, budget: Budget): (connection: Connection) => void {
  return (connection) => {
    const isUnread = connection.writableLength > 0;
    if (isUnread ? mayStall(connection, bounds, budget) : isAtWork(connection))
      connection.setTimeout(bounds.stalledTimeoutMs); // otherwise Node reports only once
    else connection.destroy();
  };
}

function mayStall(connection: Stalled, bounds: StallBounds, budget: Budget): boolean {
  const seen = performance.now();
  const before = connection[stall];
  // When bytes have moved, Node waits for another time-out before it reports again.
  const isSameStall = before !== undefined && seen - before.seen < 2 * bounds.stalledTimeoutMs;
  const since = isSameStall ? before.since : seen - bounds.stalledTimeoutMs;
  connection[stall] = { seen, since };
  return !isUsedUp(budget) && seen - since < bounds.longestStallMs;
}
