/** Prepares the store for a configuration. If the store cannot be reached, this continues in the background until it can. */
import { setTimeout as sleep } from "node:timers/promises";
import { Problem, StartError } from "../errors.ts";
import type { Log } from "../http/service.ts";
import { createBackOff } from "../store/core/back-off.ts";

/** How to prepare the store. */
export interface PreparationOptions {
  /** Throws UNAVAILABLE if a later attempt can succeed. */
  prepare(): Promise<void>;
  /** Whether to continue in the background. The service then runs, but is not ready. */
  mayWait: boolean;
  /** Begin in the background, after this resolves. @default begin at once */
  after?: Promise<void> | undefined;
  log: Log;
  /** The technical reason of an error, for the log. */
  reasonOf(error: Problem): string;
  /** Called if an attempt in the background fails for another reason. No attempt follows. */
  onFailure(reason: string): void;
}

/** A preparation that is complete or continues in the background. */
export interface Preparation {
  isComplete(): boolean;
  /** Resolves when it is complete. Never resolves if it is stopped before. */
  completed: Promise<void>;
  /** Ends the attempts. */
  stop(): Promise<void>;
}

/** The time between two attempts, in milliseconds. */
const waits = { first: 250, most: 32_000 };

/** Prepares the store, or starts to do so in the background. Throws the error if waiting would not help. */
export async function prepareStore(options: PreparationOptions): Promise<Preparation> {
  const stopped = new AbortController();
  const { promise: completed, resolve: complete } = Promise.withResolvers<void>();
  let isComplete = false;
  const prepare = async () => {
    await options.prepare();
    isComplete = true;
    complete();
  };
  const own = { ...options, prepare };
  const { signal } = stopped;
  let background: Promise<void> | undefined;
  if (options.after !== undefined) background = prepareAfter(options.after, own, signal);
  else if (!(await tryOnce(own))) background = keepTrying(own, signal);
  return {
    isComplete: () => isComplete,
    completed,
    stop: async () => {
      stopped.abort();
      await background;
    },
  };
}

/** Prepares the store. Returns false if the store cannot be reached, and logs why. */
async function tryOnce({ prepare, mayWait, log, reasonOf }: PreparationOptions): Promise<boolean> {
  try {
    await prepare();
    return true;
  } catch (error) {
    if (!mayWait || !isUnavailable(error)) throw error;
    log.warn(`the store cannot be reached yet, and the service keeps trying: ${reasonOf(error)}`);
    return false;
  }
}

async function prepareAfter(
  after: Promise<void>,
  options: PreparationOptions,
  signal: AbortSignal,
): Promise<void> {
  await Promise.race([after, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
  if (signal.aborted) return;
  try {
    if (!(await tryOnce(options))) await keepTrying(options, signal);
  } catch (error) {
    options.onFailure(describe(error));
  }
}

async function keepTrying(
  { prepare, log, onFailure }: PreparationOptions,
  signal: AbortSignal,
): Promise<void> {
  const nextWait = createBackOff(waits);
  for (;;) {
    await sleep(nextWait(), undefined, { signal }).catch(() => {}); // stopped
    if (signal.aborted) return;
    try {
      await prepare();
      return log.warn("the store can be reached now");
    } catch (error) {
      if (isUnavailable(error)) continue;
      return onFailure(describe(error));
    }
  }
}

function describe(error: unknown): string {
  return error instanceof StartError ? error.message : String(error);
}

function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "UNAVAILABLE";
}
