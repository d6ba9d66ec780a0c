/**
 * Decides when to close the connection of a client that does not read its response. Node reports a connection if it could
 * not send bytes for a while. This says little about the client: the kernel takes about 1.5 MB at a time, so a client that
 * reads 20 kB a second looks idle for more than a minute.
 */
import type { Socket } from "node:net";
import type { Admission } from "../admission/ticket.ts";
import { type Connection, isAtWork } from "./connections.ts";

/** How long a client can leave its response unread, in milliseconds. */
export interface StallBounds {
  /** How often a connection is checked. It is closed if the memory for responses is used up. @default 60000 */
  stalledTimeoutMs: number;
  /** After this time the connection is always closed. @default 600000 */
  longestStallMs: number;
  /** If the memory is used up, the connection of a client that reads more slowly on average is closed. @default 10000 */
  slowestBytesPerSecond: number;
}

/**
 * Waits until a response of `bytes` bytes was sent. If the memory is used up, closes the connection of a client that reads
 * too slowly: Node never reports a client that reads a few bytes a minute.
 */
export async function atFairPace<T>(
  sent: Promise<T>,
  { connection, bytes }: { connection: Socket; bytes: number },
  { bounds, admission }: { bounds: StallBounds; admission: Admission },
): Promise<T> {
  const start = performance.now();
  const fairMs = bounds.stalledTimeoutMs + (bytes / bounds.slowestBytesPerSecond) * 1_000;
  const timer = setInterval(() => {
    if (admission.isUsedUp() && performance.now() - start >= fairMs) connection.destroy();
  }, bounds.stalledTimeoutMs).unref();
  return sent.finally(() => clearInterval(timer));
}

/** When a connection was last reported, and since when it is stalled. Both are times of `performance.now()`. */
const stall = Symbol("stall");

type Stalled = Connection & { [stall]?: { seen: number; since: number } };

/**
 * Makes the listener for `timeout` of a server or of one of its connections. It closes an idle connection. It does not
 * close a connection while the service works on a request: other limits apply to that work.
 */
export function createTimeoutListener(
  bounds: StallBounds,
  admission: Admission,
): (connection: Connection) => void {
  return (connection) => {
    const isUnread = connection.writableLength > 0;
    if (isUnread ? canStall(connection, bounds, admission) : isAtWork(connection))
      connection.setTimeout(bounds.stalledTimeoutMs); // otherwise Node reports only once
    else if (isUnread) connection.destroy();
    else closeIfIdle(connection, bounds);
  };
}

/** After a pause of the whole process, Node reports a connection before it reads what has arrived in the meantime. */
function closeIfIdle(connection: Connection, { stalledTimeoutMs }: StallBounds): void {
  const { bytesRead } = connection;
  setImmediate(() => {
    if (connection.bytesRead === bytesRead) connection.destroy();
    else connection.setTimeout(stalledTimeoutMs);
  });
}

function canStall(connection: Stalled, bounds: StallBounds, admission: Admission): boolean {
  const seen = performance.now();
  const before = connection[stall];
  // If bytes were sent since the last report, Node waits for another timeout before it reports again.
  const isSameStall = before !== undefined && seen - before.seen < 2 * bounds.stalledTimeoutMs;
  const since = isSameStall ? before.since : seen - bounds.stalledTimeoutMs;
  connection[stall] = { seen, since };
  return !admission.isUsedUp() && seen - since < bounds.longestStallMs;
}
