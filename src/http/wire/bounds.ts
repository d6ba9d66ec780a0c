/** Limits of the connections that are not part of the configuration. */
import type { AdmissionBounds } from "../admission/ticket.ts";
import type { StallBounds } from "./stalled.ts";

/** The limits of all connections together, and how long a client can leave its response unread. */
export interface WireBounds extends StallBounds, AdmissionBounds {
  /** Connections of all threads. Further ones are closed at once. @default 10000 */
  maxConnections: number;
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
