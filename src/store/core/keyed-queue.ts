/** Runs tasks with the same key one after the other. Other keys do not have to wait. */
import { Problem } from "../../errors.ts";
import { Lines } from "./lines.ts";

/** A queue for each key. */
export interface KeyedQueue {
  /**
   * Runs `task` when all earlier tasks of the key have ended. With a `caller`, callers take turns, and only the tasks of one caller keep
   * their order. Throws what `task` throws. Throws UNAVAILABLE, and never runs `task`, if too many tasks wait or if the wait takes too
   * long.
   */
  run<T>(key: string, task: () => Promise<T>, caller?: string): Promise<T>;
}

/** The limits of a keyed queue. */
export interface KeyedQueueOptions {
  /** Tasks of one key that have not ended. @default 1000 */
  maxPerKey?: number;
  /** Tasks of all keys that have not ended. @default 10000 */
  maxTasks?: number;
  /** How long a task waits for its turn, in milliseconds. @default 10000 */
  maxWaitMs?: number;
}

/** A task that waits. */
interface Waiting {
  readonly caller: string;
  start(): void;
}

/** Creates a keyed queue. It remembers a key only while it has tasks. */
export function createKeyedQueue({
  maxPerKey = 1_000,
  maxTasks = 10_000,
  maxWaitMs = 10_000,
}: KeyedQueueOptions = {}): KeyedQueue {
  /** Contains a key while one of its tasks runs. */
  const queues = new Map<string, Lines<Waiting>>();
  let tasks = 0;

  /** Resolves when the task can start. `undefined` if it can start now. */
  function enter(key: string, caller: string): Promise<void> | undefined {
    const waiting = queues.get(key);
    const length = waiting === undefined ? 0 : waiting.length + 1;
    if (length >= maxPerKey || tasks >= maxTasks)
      throw unavailable("Too many writes are waiting for each other.");
    tasks++;
    if (waiting !== undefined) return waitIn(waiting, caller);
    queues.set(key, new Lines());
    return undefined;
  }

  function waitIn(waiting: Lines<Waiting>, caller: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const own = { caller, start };
      const timer = setTimeout(() => {
        waiting.remove(own);
        tasks--;
        reject(unavailable("The writes before this one took too long. Nothing was written."));
      }, maxWaitMs);
      waiting.add(own);
    });
  }

  function leave(key: string): void {
    tasks--;
    const next = queues.get(key)?.take();
    if (next === undefined) queues.delete(key);
    else next.start();
  }

  return {
    async run(key, task, caller = "") {
      const turn = enter(key, caller);
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
