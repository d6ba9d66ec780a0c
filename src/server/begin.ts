/** Holds the store to the configuration; where it cannot be reached yet, in the background and until it can. */
import { setTimeout as pass } from "node:timers/promises";
import { Problem, StartError } from "../errors.ts";
import type { Log } from "../http/service.ts";
import { createBackOff } from "../store/back-off.ts";

/** How the beginning is made. */
export interface BeginOptions {
  /** Throws UNAVAILABLE where another time may do. */
  fit(): Promise<void>;
  /** Whether it may be waited for a store that is out of reach, with a service that answers meanwhile. */
  mayWait: boolean;
  log: Log;
  /** The technical reason for an error, for the log. */
  reasonOf(error: Problem): string;
  /** Called where the waiting came to the end that the service cannot begin. */
  onFailure(reason: string): void;
}

/** A beginning. */
export interface Beginning {
  hasBegun(): boolean;
  /** Gives it up, if it is still on its way. */
  stop(): Promise<void>;
}

/** How long is waited between two tries, in milliseconds. */
const waits = { first: 250, most: 32_000 };

/** Begins, or goes on trying after this has returned. Throws what makes it pointless to wait. */
export async function begin(options: BeginOptions): Promise<Beginning> {
  try {
    await options.fit();
    return { hasBegun: () => true, stop: async () => {} };
  } catch (error) {
    if (!options.mayWait || !isPassing(error)) throw error;
    options.log.warn(
      `the store cannot be reached yet, and the service keeps trying: ${options.reasonOf(error)}`,
    );
    return goOn(options);
  }
}

function goOn(options: BeginOptions): Beginning {
  const stopped = new AbortController();
  let hasBegun = false;
  const work = tryAgain(options, stopped.signal).then((done) => {
    hasBegun = done;
  });
  return {
    hasBegun: () => hasBegun,
    stop: () => {
      stopped.abort();
      return work;
    },
  };
}

/** Gives whether it was done. */
async function tryAgain({ fit, log, onFailure }: BeginOptions, signal: AbortSignal): Promise<boolean> {
  const nextWait = createBackOff(waits);
  for (;;) {
    await pass(nextWait(), undefined, { signal }).catch(() => {}); // stopped
    if (signal.aborted) return false;
    try {
      await fit();
      log.warn("the store can be reached now");
      return true;
    } catch (error) {
      if (isPassing(error)) continue;
      onFailure(error instanceof StartError ? error.message : String(error));
      return false;
    }
  }
}

function isPassing(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "UNAVAILABLE";
}
