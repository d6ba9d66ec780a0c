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
  /** The technical reason of an error, for the log. */
  reasonOf(error: Problem): string;
  /** Called if an attempt in the background fails for another reason. No attempt follows. */
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
  const stopped = new AbortController();
  let isComplete = false;
  let work: Promise<void> | undefined;
  const prepare = async () => {
    await options.prepare();
    isComplete = true;
  };
  try {
    await prepare();
  } catch (error) {
    if (!options.mayWait || !isUnavailable(error)) throw error;
    options.log.warn(
      `the store cannot be reached yet, and the service keeps trying: ${options.reasonOf(error)}`,
    );
    work = keepTrying({ ...options, prepare }, stopped.signal);
  }
  return {
    isComplete: () => isComplete,
    stop: async () => {
      stopped.abort();
      await work;
    },
  };
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
      return onFailure(error instanceof StartError ? error.message : String(error));
    }
  }
}

function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "UNAVAILABLE";
}
