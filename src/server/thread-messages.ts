/** What the main thread and the other threads send each other. Everything is plain data. */
import type { FirstKeyOffer } from "../access/first-key.ts";
import type { ConfigOrigin } from "../config.ts";
import type { StartFault } from "../errors.ts";
import type { LimitsMemory } from "../http/limits/shared.ts";
import type { WireBounds } from "../http/wire/bounds.ts";
import type { KeyPair } from "../http/wire/tls.ts";
import type { ThreadMetrics } from "../observe/metrics.ts";

/** What a thread gets when it starts. */
export interface ThreadData {
  /** The number of the thread, from 1. The main thread has 0. */
  number: number;
  /** How many threads answer requests, with the main thread. */
  threads: number;
  /** What the configuration of the main thread was made of. */
  config: ConfigOrigin;
  /** The port on which the main thread listens. */
  port: number;
  /** Whether to log a line about each request. */
  logRequests: boolean;
  /** The certificate that the main thread has read; absent without TLS. */
  keyPair?: KeyPair | undefined;
  /** Whether the main thread has prepared the store. Otherwise it sends `prepared` later. */
  isPrepared: boolean;
  /** Memory in which all threads count what they limit together. The main thread makes it. */
  limits: LimitsMemory;
  /** What the thread needs to use the store of the main thread; absent if it opens the store itself. */
  attachment?: unknown;
  /** For tests and measurements. */
  wireBounds?: Partial<WireBounds> | undefined;
}

/** From the main thread. */
export type ToThread =
  | { kind: "prepared" }
  /** Turn readiness off. Every response closes its connection from now on. */
  | { kind: "drain" }
  /** Answer all accepted requests, then close the listener and the store, and end. */
  | { kind: "stop" }
  /** Encrypt new connections with this certificate. */
  | { kind: "keyPair"; pair: KeyPair }
  /** Accept this token for the first API key. */
  | { kind: "firstKey"; offer: FirstKeyOffer }
  /** Send the metrics of this thread. */
  | { kind: "measure" }
  /** The text of the metrics of all threads, or why there is none. */
  | { kind: "metricsText"; text: { type: string; text: string } | { error: string } };

/** To the main thread. */
export type FromThread =
  | { kind: "listening" }
  /** The thread cannot start, because of these faults. */
  | { kind: "refused"; faults: readonly StartFault[] }
  /** The store of the thread has failed permanently. */
  | { kind: "failed"; reason: string }
  /** Complete lines for the log. */
  | { kind: "log"; lines: readonly string[] }
  | { kind: "measured"; metrics: ThreadMetrics }
  /** A request for the text of the metrics of all threads. */
  | { kind: "askMetrics" };
