/** How many threads answer requests if the configuration leaves it open. */
import { availableParallelism } from "node:os";
import { mostThreads } from "../config/readers.ts";
import type { StoreAddress } from "../store/open.ts";

/** Each thread opens connections of its own. With more threads, one service could use all connections of a usual database. */
const mostOnPostgres = 4;

/**
 * The threads for a store on this many processors. From three processors, one of them remains for the store. A limit of
 * processors in a container (cgroup 2) counts as well.
 */
export function threadsFor(store: StoreAddress["kind"], processors = availableParallelism()): number {
  const most = store === "postgres" ? mostOnPostgres : mostThreads;
  return Math.min(most, Math.max(1, processors - 1));
}
