/** Checks that the database still responds during work that has no time limit. */
import { failureOf } from "./failures.ts";

/** The time between two checks, in milliseconds. */
const everyMs = 3_000;

/** After this many checks in a row without a response, the database is lost. A busy database can miss one. */
const maxSilences = 2;

/** Checks the database regularly, and calls `onGone` once if it no longer responds. Returns a function that stops this. */
export function watchDatabase(probe: () => Promise<unknown>, onGone: () => void): () => void {
  let silences = 0;
  let isRunning = false;
  const check = async () => {
    if (isRunning) return;
    isRunning = true;
    const isSilent = await probe().then(
      () => false,
      (error) => failureOf(error) === "lost",
    );
    isRunning = false;
    silences = isSilent ? silences + 1 : 0;
    if (silences < maxSilences) return;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(check, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
