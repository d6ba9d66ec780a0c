/** Calls for one key run one after the other, in the order they came; different keys do not wait for each other. */
import { Problem } from "../errors.ts";

/** A queue for each key. */
export interface KeyedQueue {
  /**
   * Runs `task` when the earlier ones of the key have ended. Throws UNAVAILABLE when too many wait or its turn
   * does not come in time, in which case it never runs; and what `task` throws.
   */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
}

/** How many may wait, and for how long. */
export interface KeyedQueueOptions {
  /** Tasks of one key that have not ended. @default 1000 */
  maxPerKey?: number;
  /** Tasks of all keys that have not ended. @default 10000 */
  maxTasks?: number;
  /** How long a task waits for its turn, in milliseconds. @default 10000 */
  maxWaitMs?: number;
}

/** The tasks of a key that wait, the first first: each is begun by its function. */
type Line = Set<() => void>;

/** Creates a keyed queue. It remembers a key only while it has tasks. */
export function createKeyedQueue({
  maxPerKey = 1_000,
  maxTasks = 10_000,
  maxWaitMs = 10_000,
}: KeyedQueueOptions = {}): KeyedQueue {
  const lines = new Map<string, Line>();
  let tasks = 0;

  /** `undefined` when it is the task's turn at once. */
  function enter(key: string): Promise<void> | undefined {
    const line = lines.get(key);
    const length = line === undefined ? 0 : line.size + 1;
    if (length >= maxPerKey || tasks >= maxTasks)
      throw unavailable("Too many writes are waiting for each other.");
    tasks++;
    if (line !== undefined) return waitIn(line);
    lines.set(key, new Set());
    return undefined;
  }

  function waitIn(line: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.delete(begin);
        tasks--;
        reject(unavailable("The writes before this one took too long. Nothing was written."));
      }, maxWaitMs);
      line.add(begin);
    });
  }

  function leave(key: string): void {
    tasks--;
    const line = lines.get(key);
    const [next] = line ?? [];
    if (line === undefined || next === undefined) {
      lines.delete(key);
      return;
    }
    line.delete(next);
    next();
  }

  return {
    async run(key, task) {
      const turn = enter(key);
      if (turn !== undefined) await turn;
      try {
        return await task();
      } finally {
        leave(key);
      }
    },
  };
}

function unavailable(reason: string): Problem {
  return new Problem("UNAVAILABLE", `${reason} Try again.`);
}
