/** What each of several threads does for the service. */
import type { LimitsMemory } from "../http/limits/shared.ts";
import type { Metrics } from "../http/service.ts";
import type { ThreadMetrics } from "../observe/metrics.ts";

/** The part of one thread. The main thread prepares the store, delivers, and makes the text of the metrics. */
export type ThreadPart = MainThread | OtherThread;

/** The part of the main thread. */
export interface MainThread {
  kind: "main";
  /** @default 0 */
  number: number;
  /** What all threads count together. @default memory for one thread */
  limits?: LimitsMemory | undefined;
  /** The metrics of all other threads. */
  othersMetrics(): Promise<readonly ThreadMetrics[]>;
}

/** The part of another thread. */
export interface OtherThread {
  kind: "other";
  /** From 1. */
  number: number;
  limits: LimitsMemory;
  /** Lets this thread use the store of the main thread; absent if it opens the store itself. */
  attachment?: unknown;
  /** Resolves when the main thread has prepared the store; absent if it has already. */
  prepared?: Promise<void> | undefined;
  /** The text of all threads, from the main thread. */
  metrics: Metrics;
}

/** The main thread, if there is no other. */
export const alone: MainThread = { kind: "main", number: 0, othersMetrics: async () => [] };
