/** Limits of the connections that are not part of the configuration. */
import type { StallBounds } from "./stalled.ts";

/** The limits of all connections together, and how long a client can leave its response unread. */
export interface WireBounds extends StallBounds {
  /** Connections of all threads. Further ones are closed at once. @default 10000 */
  maxConnections: number;
  /** Content of requests in progress and of responses that are not read yet, in bytes. @default 67108864 */
  maxHeldBytes: number;
  /** Requests in progress, at most one on each connection. Further ones are refused. @default 5000 */
  maxRequests: number;
}

/** The limits of every service. Tests and measurements can have others. */
export const defaultBounds: WireBounds = {
  maxConnections: 10_000,
  maxHeldBytes: 67_108_864,
  maxRequests: 5_000,
  stalledTimeoutMs: 60_000,
  longestStallMs: 600_000,
  slowestBytesPerSecond: 10_000,
};
