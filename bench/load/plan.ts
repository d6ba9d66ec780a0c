/** What a load is, whichever program makes it. */

/** What is to be sent, and for how long. */
export interface LoadPlan {
  port: number;
  connections: number;
  /** Not counted, to warm up. */
  warmUpMs: number;
  durationMs: number;
  /** Requests to choose from, as text; they are gone round in. Where `serial` stands, each sending has a number of its own. */
  requests: readonly string[];
  /** Whether each connection sends a stretch of its own in order, which a sequence of versions needs. @default false */
  inOrder?: boolean;
  /** Whether each request is sent once, so that the load ends with the last one; deletes need it. @default false */
  once?: boolean;
  /** Whether wrk counts statuses, which takes it time; the others always do. @default in the warm-up only, where there is one */
  counts?: boolean;
}

/** What came back while it was counted. */
export interface LoadResult {
  perSecond: number;
  /** How many answers that is. */
  answers: number;
  /** Milliseconds from sending to the whole answer. */
  p50: number;
  p99: number;
  /** How many answers had each status; where wrk makes the load, those of the warm-up, and `failed` of what was counted. */
  statuses: Record<string, number>;
}

/** Stands in a request for eight digits that differ each time it is sent. */
export const serial = "########";

/** Throws unless all was answered with one status: what is refused is refused fast, and must not count. */
export function requireStatus({ answers, statuses }: LoadResult, wanted: string): void {
  const others = Object.keys(statuses).filter((status) => status !== wanted);
  if (others.length > 0 || statuses[wanted] === undefined || answers === 0)
    throw new Error(
      `expected only responses with status ${wanted}, but got ${JSON.stringify(statuses)} in ${answers} responses`,
    );
}
