/** Calls for one key run one after the other, in the order they came; different keys do not wait for each other. */
import { Problem } from "../errors.ts";

/** A queue for each key. */
export interface KeyedQueue {
  /** Runs `task` when the earlier ones of the key have ended. Throws UNAVAILABLE when too many wait, and what `task` throws. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
}

/** How many may wait. */
export interface KeyedQueueOptions {
  /** Tasks of one key that have not ended. @default 1000 */
  maxPerKey?: number;
  /** Tasks of all keys that have not ended. @default 10000 */
  maxTasks?: number;
}

interface Line {
  length: number;
  tail: Promise<unknown>;
}

/** Creates a keyed queue. It remembers a key only while it has tasks. */
export function createKeyedQueue({
  maxPerKey = 1_000,
  maxTasks = 10_000,
}: KeyedQueueOptions = {}): KeyedQueue {
  const lines = new Map<string, Line>();
  let tasks = 0;

  function enter(key: string): Line {
    const line = lines.get(key) ?? { length: 0, tail: Promise.resolve() };
    if (line.length >= maxPerKey || tasks >= maxTasks) throw lineFull();
    lines.set(key, line);
    line.length++;
    tasks++;
    return line;
  }

  function leave(key: string, line: Line): void {
    line.length--;
    tasks--;
    if (line.length === 0) lines.delete(key);
  }

  return {
    async run(key, task) {
      const line = enter(key);
      const result = line.length === 1 ? begin(task) : line.tail.then(task);
      line.tail = result.catch(() => {});
      try {
        return await result;
      } finally {
        leave(key, line);
      }
    },
  };
}

/** As an async function, so that a task that throws at once rejects as well. */
async function begin<T>(task: () => Promise<T>): Promise<T> {
  return task();
}

function lineFull(): Problem {
  return new Problem("UNAVAILABLE", "Too many writes are waiting for each other. Try again.", {
    headers: { "retry-after": "1" },
  });
}
