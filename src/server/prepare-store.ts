/** Prepares the store for a configuration. If the store cannot be reached, this continues in the background until it can. */
import { setTimeout as sleep } from "node:timers/promises";
import { Problem, StartError } from "../errors.ts";
import type { Log } from "../http/service.ts";
import { createBackOff } from "../store/back-off.ts";

/** How to prepare the store. */
export interface PreparationOptions {
  /** Throws UNAVAILABLE if a later attempt can succeed. */
  prepare(): Promise<void>;
  /** Whether to continue in the background. The service then runs, but is not ready. */
  mayWait: boolean;
  log: Log;
  /** The technical reason for an error, for the log. */
  reasonOf(error: Problem): string;
  /** Called if the preparation fails in the background for another reason. */
  onFailure(reason: string): void;
}

/** A preparation that is complete or continues in the background. */
export interface Preparation {
  isComplete(): boolean;
  /** Ends the attempts. */
  stop(): Promise<void>;
}

/** The time between two attempts, in milliseconds. */
const waits = { first: 250, most: 32_000 };

/** Prepares the store, or starts to do so in the background. Throws the error if waiting would not help. */
export async function prepareStore(options: PreparationOptions): Promise<Preparation> {
  try {
    await options.prepare();
    return { isComplete: () => true, stop: async () => {} };
  } catch (error) {
    if (!options.mayWait || !isUnavailable(error)) throw error;
    options.log.warn(
      `the store cannot be reached yet, and the service keeps trying: ${options.reasonOf(error)}`,
    );
    return continueInBackground(options);
  }
}

function continueInBackground(options: PreparationOptions): Preparation {
  const stopped = new AbortController();
  let isComplete = false;
  const work = tryUntilComplete(options, stopped.signal).then((hasSucceeded) => {
    isComplete = hasSucceeded;
  });
  return {
    isComplete: () => isComplete,
    stop: () => {
      stopped.abort();
      return work;
    },
  };
}

/** Returns whether an attempt has succeeded. */
async function tryUntilComplete(
  { prepare, log, onFailure }: PreparationOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const nextWait = createBackOff(waits);
  for (;;) {
    await sleep(nextWait(), undefined, { signal }).catch(() => {}); // stopped
    if (signal.aborted) return false;
    try {
      await prepare();
      log.warn("the store can be reached now");
      return true;
    } catch (error) {
      if (isUnavailable(error)) continue;
      onFailure(error instanceof StartError ? error.message : String(error));
      return false;
    }
  }
}

function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "UNAVAILABLE";
}
