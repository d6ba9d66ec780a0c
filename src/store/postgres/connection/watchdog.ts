/** Tells whether the database still answers while something is waited for that may take as long as it takes. */
import { failureOf } from "./failures.ts";

/** It is asked so often, in milliseconds. */
const everyMs = 3_000;

/** So many times in a row without an answer, and the database counts as gone: once may be a moment of much to do. */
const maxSilences = 2;

/**
 * Asks again and again whether the database answers, and calls `onGone` once where it does not. Ends with what is given
 * back.
 */
export function watchDatabase(probe: () => Promise<unknown>, onGone: () => void): () => void {
  let silences = 0;
  let isAsked = false;
  const ask = async () => {
    if (isAsked) return;
    isAsked = true;
    const isSilent = await probe().then(
      () => false,
      (error) => failureOf(error) === "lost",
    );
    isAsked = false;
    silences = isSilent ? silences + 1 : 0;
    if (silences < maxSilences) return;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(ask, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
