/** The metrics of one service: what counts while it runs, and the text that a monitor reads. It is loaded only if metrics are on. */
import { setTimeout as sleep } from "node:timers/promises";
import { Lags } from "../changes/lags.ts";
import type { Count } from "../http/admission/counts.ts";
import type { Metrics } from "../http/service.ts";
import { CommitMeter } from "../store/port/commit-meter.ts";
import type { Store } from "../store/port/store.ts";
import { expositionOf, measureProcess, metricsOfThread, type ThreadMetrics } from "./exposition.ts";
import { RequestDurations } from "./meters.ts";
import type { MetricsSource, Samples } from "./metrics-source.ts";
import type { Readings, ReadSource } from "./samples.ts";

export type { ThreadMetrics } from "./exposition.ts";

/** What is read when a monitor asks. */
export interface MetricsSources {
  /** The number of the thread; 0 is the main thread. */
  thread: number;
  storeKind: string;
  store: Pick<Store, "health" | "statistics">;
  /** The event streams and waiting pages of all threads; absent if the store keeps no history. */
  streams: Pick<Count, "all"> | undefined;
  /** The metrics of capabilities and people. */
  added: readonly MetricsSource[];
  /** Whether the store was reached. */
  hasStarted: () => boolean;
}

/** How old a text can be, in milliseconds. A monitor that asks all the time does not slow the service down. */
const textBounds = { maxAgeMs: 1_000, timeoutMs: 10_000 };

/** The same for what needs a query of the store. A slow store delays no monitor longer than this. */
const queryBounds = { maxAgeMs: 5_000, timeoutMs: 2_000 };

/** What the service counts with. Each member is given to the room that counts. */
export class Meters {
  readonly requests = new RequestDurations();
  readonly commits = new CommitMeter();
  readonly lags = new Lags();

  constructor() {
    measureProcess();
  }
}

/** Reads what these meters have counted, and what the sources know. */
function createReadings(meters: Meters, sources: MetricsSources): () => Promise<Readings> {
  const { thread, storeKind, store, added, streams, hasStarted } = sources;
  const statistics = new Recent(() => store.statistics(), queryBounds);
  const readers = added.map((source) => ({ source, stored: recentOf(source, thread) }));
  return async () => {
    const isReachable = hasStarted();
    const [read, ...storedOf] = await Promise.all(
      isReachable ? ([statistics.get(), ...readers.map(({ stored }) => stored?.get())] as const) : [],
    );
    const health = store.health();
    return {
      thread,
      storeKind,
      meters,
      health: health.kind,
      isDamaged: health.data === "damaged",
      statistics: read,
      ...(streams && { subscribers: streams.all }),
      added: readers.map(({ source, stored }, n): ReadSource => {
        const { name, families } = source;
        const counted = () => source.counted();
        return { name, families, counted, ...(stored && { stored: storedOf[n] }) };
      }),
    };
  };
}

/** Reads what the store has of a source. All threads would find the same. */
function recentOf(source: MetricsSource, thread: number): Recent<() => Samples> | undefined {
  if (thread !== 0 || source.stored === undefined) return undefined;
  return new Recent(async () => source.stored?.() ?? (() => ({})), queryBounds);
}

/** Reads the metrics of one thread, for the text that the main thread makes. */
export function createThreadMetrics(meters: Meters, sources: MetricsSources): () => Promise<ThreadMetrics> {
  const read = createReadings(meters, sources);
  return async () => metricsOfThread(await read());
}

/** The metrics of a service: of the main thread, which counts with these meters, and of the others. */
export function createMetrics(
  meters: Meters,
  sources: MetricsSources,
  others: () => Promise<readonly ThreadMetrics[]>,
): Metrics {
  const read = createReadings(meters, sources);
  const text = new Recent(async () => {
    const [own, rest] = await Promise.all([read(), others()]);
    return expositionOf(own, rest);
  }, textBounds);
  return {
    exposition: async () => {
      const made = await text.get();
      if (made === undefined)
        throw new Error("The metrics could not be made in time.", { cause: text.failure });
      return made;
    },
  };
}

/** How long reading can take, and how old the value can be, in milliseconds. */
interface RecentBounds {
  maxAgeMs: number;
  timeoutMs: number;
}

/** A value that is read on demand: by one caller at a time, and again only after a while. */
class Recent<T> {
  readonly #read: () => Promise<T>;
  readonly #bounds: RecentBounds;
  #value: T | undefined;
  /** The time of the value, in milliseconds of `performance.now()`. */
  #at = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** Why the value could not be read; `undefined` if it could. */
  failure: unknown;

  constructor(read: () => Promise<T>, bounds: RecentBounds) {
    this.#read = read;
    this.#bounds = bounds;
  }

  /** The value, at most as old as the bounds say. `undefined` if it cannot be read, or not in time. */
  async get(): Promise<T | undefined> {
    const { maxAgeMs, timeoutMs } = this.#bounds;
    const isRecent = () => performance.now() - this.#at < maxAgeMs;
    if (isRecent()) return this.#value;
    this.#reading ??= this.#start();
    const over = new AbortController();
    await Promise.race([this.#reading, sleep(timeoutMs, undefined, { signal: over.signal })]);
    over.abort();
    return isRecent() ? this.#value : undefined;
  }

  /** A failure counts as a value too, so that a store that fails is not asked again at once. */
  async #start(): Promise<void> {
    this.failure = undefined;
    this.#value = await this.#read().catch((error: unknown) => {
      this.failure = error;
      return undefined;
    });
    this.#at = performance.now();
    this.#reading = undefined;
  }
}
