/**
 * What all threads of the process count together, in memory that they share. With one thread it is the same. Threads that check
 * and count at the same moment can exceed a limit of all connections by one each. The counts by caller are exact.
 */
import type { HttpSettings } from "../settings.ts";
import { type CallerHash, createCallerHash, createHashKey } from "./caller-hash.ts";
import { type Count, SharedCount } from "./count.ts";
import { Mutex, mutexIntegers } from "./mutex.ts";
import { type StreamsMemory, streamsMemory } from "./open-streams.ts";
import { type WindowsMemory, windowsMemory } from "./windows.ts";

/** How much is counted. */
export interface LimitsSize {
  threads: number;
  /** The most callers with a quota, of each kind. 0 without a rate limit. */
  callers: number;
  /** The most event streams and waiting pages. */
  streams: number;
}

/** The memory of all counts. It can be sent to another thread. */
export interface LimitsMemory {
  readonly threads: number;
  /** Random in each process, so that nobody can aim at the count of another caller. */
  readonly key: string;
  readonly counts: SharedArrayBuffer;
  readonly principals: WindowsMemory;
  readonly addresses: WindowsMemory;
  readonly streams: StreamsMemory;
  readonly creating: SharedArrayBuffer;
}

/** One thread's side of the counts. */
export interface SharedLimits {
  /** From 0. */
  readonly thread: number;
  readonly memory: LimitsMemory;
  readonly hash: CallerHash;
  readonly connections: Count;
  /** Requests in progress. */
  readonly requests: Count;
  /** Requests that wait for others on the same connection. */
  readonly waiting: Count;
  /** Bytes that requests and responses hold. */
  readonly held: Count;
  /** Event streams and waiting pages. */
  readonly streams: Count;
  /** One request at a time creates a collection. */
  readonly creating: Mutex;
}

/** What is counted as one number. */
const names = ["connections", "requests", "waiting", "held", "streams"] as const;

/** The most callers with a quota, of each kind. */
const maxCallers = 100_000;

/** How much a service with these settings counts. */
export function sizeFor({ rate, limits }: HttpSettings, threads: number): LimitsSize {
  return { threads, callers: rate === undefined ? 0 : maxCallers, streams: limits.streams };
}

/** Memory in which nothing is counted yet. One thread makes it, and all threads open it. */
export function createLimits({ threads, callers, streams }: LimitsSize): LimitsMemory {
  return {
    threads,
    key: createHashKey(),
    counts: new SharedArrayBuffer(names.length * threads * Float64Array.BYTES_PER_ELEMENT),
    principals: windowsMemory(callers),
    addresses: windowsMemory(callers),
    streams: streamsMemory(streams),
    creating: new SharedArrayBuffer(mutexIntegers * Int32Array.BYTES_PER_ELEMENT),
  };
}

/** Opens the memory in a thread: 0 for the first, each another number. */
export function openLimits(memory: LimitsMemory, thread: number): SharedLimits {
  const countOf = (name: (typeof names)[number]) => {
    const { threads, counts } = memory;
    const offset = names.indexOf(name) * threads * Float64Array.BYTES_PER_ELEMENT;
    return new SharedCount(new Float64Array(counts, offset, threads), thread);
  };
  return {
    thread,
    memory,
    hash: createCallerHash(memory.key),
    connections: countOf("connections"),
    requests: countOf("requests"),
    waiting: countOf("waiting"),
    held: countOf("held"),
    streams: countOf("streams"),
    creating: new Mutex(new Int32Array(memory.creating)),
  };
}
