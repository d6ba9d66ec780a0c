/** A load and its result, independent of the program that makes the load. */

/** The requests of a load, and how long to send them. */
export interface LoadPlan {
  port: number;
  connections: number;
  /** The time before the measurement, in milliseconds. Its requests do not count. */
  warmUpMs: number;
  durationMs: number;
  /** The requests as texts, which are sent in a circle. Each sending replaces `serial` with another number. */
  requests: readonly string[];
  /** Whether each connection sends its own part of the requests in order, as a sequence of versions needs. @default false */
  inOrder?: boolean;
  /** Whether each request is sent only once, as deletes need. The load ends with the last request. @default false */
  once?: boolean;
  /** Whether wrk counts statuses, which takes time. The other programs always count them. @default only in a warm-up */
  counts?: boolean;
}

/** The result of a load. */
export interface LoadResult {
  perSecond: number;
  /** The number of responses. */
  answers: number;
  /** The time from sending a request to its complete response, in milliseconds. */
  p50: number;
  p99: number;
  /** The number of responses with each status. With wrk, these are the responses of the warm-up, and `failed` of the measurement. */
  statuses: Record<string, number>;
}

/** A placeholder in a request. Each sending replaces it with eight different digits. */
export const serial = "########";

/** Throws unless all responses have this status, because refusals are fast and must not count. */
export function requireStatus({ answers, statuses }: LoadResult, wanted: string): void {
  const others = Object.keys(statuses).filter((status) => status !== wanted);
  if (others.length > 0 || statuses[wanted] === undefined || answers === 0)
    throw new Error(
      `expected only responses with status ${wanted}, but got ${JSON.stringify(statuses)} in ${answers} responses`,
    );
}
