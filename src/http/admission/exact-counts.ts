/**
 * What is exact over all threads: the streams of a caller, quotas, and that one request at a time creates a collection. The main
 * thread counts it. Another thread asks the main thread by message. With one thread, nothing is asked.
 */
import type { HttpSettings, Limits } from "../settings.ts";
import { type Count, type Counts, type CountsMemory, createCounts, openCounts } from "./counts.ts";
import { type CallerKind, createQuotas, keyOf, type Lease, type Quotas } from "./quotas.ts";

/** Gives back what was counted. Later calls do nothing. */
export type Release = () => void;

/** Why a stream cannot start: its caller has too many, or all callers together. */
export type StreamRefusal = "caller" | "all";

/** What the main thread counts for all threads. */
export interface ExactCounts {
  /** Takes a part of what a caller has left. */
  lease(kind: CallerKind, key: string): Lease | Promise<Lease>;
  /** Counts one more event stream or waiting page of a caller. */
  stream(caller: string): Release | StreamRefusal | Promise<Release | StreamRefusal>;
  /** Resolves when no other request creates a collection. Others wait until the result is called. */
  creation(): Promise<Release>;
}

/** Everything that is counted, as one thread sees it. */
export interface Counting {
  readonly counts: Counts;
  readonly exact: ExactCounts;
  /** `undefined` without a rate limit. */
  readonly quotas: Quotas | undefined;
}

/** The counts of the main thread, in which nothing is counted yet. */
export function startCounting(
  { rate, limits }: Pick<HttpSettings, "rate" | "limits">,
  memory: CountsMemory = createCounts(1),
): Counting {
  const counts = openCounts(memory, 0);
  const quotas = rate && createQuotas(rate, { threads: counts.threads });
  return { counts, exact: createExactCounts(counts.streams, limits, quotas), quotas };
}

/** Calls a method of `ExactCounts` in the main thread. */
type CallMain = (method: keyof ExactCounts, ...args: string[]) => Promise<unknown>;

/** The counts of another thread. */
export function joinCounting(
  { rate }: Pick<HttpSettings, "rate">,
  { memory, thread, call }: { memory: CountsMemory; thread: number; call: CallMain },
): Counting {
  const counts = openCounts(memory, thread);
  const exact = askMain(call);
  return { counts, exact, quotas: rate && createQuotas(rate, { threads: counts.threads, main: exact }) };
}

function createExactCounts(
  all: Count,
  limits: Pick<Limits, "streams" | "streamsPerCaller">,
  quotas: Quotas | undefined,
): ExactCounts {
  const streams = new Map<string, number>();
  let lastCreation = Promise.resolve();
  const add = (key: string, more: 1 | -1) => {
    all.own += more;
    const own = (streams.get(key) ?? 0) + more;
    if (own === 0) streams.delete(key);
    else streams.set(key, own);
  };
  return {
    lease: (kind, key) => {
      if (quotas === undefined) throw new Error("The service has no rate limit.");
      return quotas[kind].lease(key);
    },
    stream: (caller) => {
      const key = keyOf(caller);
      if ((streams.get(key) ?? 0) >= limits.streamsPerCaller) return "caller";
      if (all.own >= limits.streams) return "all";
      add(key, 1);
      return onlyOnce(() => add(key, -1));
    },
    creation: async () => {
      const before = lastCreation;
      const { promise, resolve } = Promise.withResolvers<void>();
      lastCreation = promise;
      await before;
      return resolve;
    },
  };
}

function onlyOnce(release: Release): Release {
  let isDone = false;
  return () => {
    if (!isDone) release();
    isDone = true;
  };
}

/** The counts of the main thread, as another thread calls them. */
function askMain(call: CallMain): ExactCounts {
  return {
    lease: (...args) => call("lease", ...args) as Promise<Lease>,
    stream: (caller) => call("stream", caller) as Promise<Release | StreamRefusal>,
    creation: () => call("creation") as Promise<Release>,
  };
}
