/**
 * Turns of the event loop, shared fairly: of a crowd of writes that arrives at once a few are taken on in each turn,
 * so that a read which arrives meanwhile waits for a few of them and not for all.
 */

/** Waits until it is the caller's turn; the first ones in each turn of the event loop need not wait. */
export type TakeTurn = () => Promise<void>;

/** Content or a resource of so many bytes can take a good part of the time for which the event loop may be held up. */
const largeBytes = 65_536;

/** After work on so many bytes of JSON: when they are many, lets whatever else waits have a turn before more is done. */
export function pauseAfter(bytes: number): Promise<void> | undefined {
  if (bytes < largeBytes) return undefined;
  return nextTurn();
}

/** Lets whatever else waits have a turn. */
export function nextTurn(): Promise<void> {
  // Twice, since the first comes at the end of this turn, before anything that arrived meanwhile.
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** As `pauseAfter`, for work in pieces: it is told of each and adds them up. */
export function createPauses(): (bytes: number) => Promise<void> | undefined {
  let sum = 0;
  return (bytes) => {
    sum += bytes;
    const pause = pauseAfter(sum);
    if (pause !== undefined) sum = 0;
    return pause;
  };
}

/** Lets so many callers on in each turn of the event loop. */
export function createTurns(perTurn: () => number): TakeTurn {
  const waiting: (() => void)[] = [];
  let allowed = 0;
  let taken = 0;

  function nextTurn(): void {
    allowed = perTurn();
    const next = waiting.splice(0, allowed);
    taken = next.length;
    for (const go of next) go();
    if (taken > 0) setImmediate(nextTurn);
  }

  return () => {
    if (taken === 0) {
      allowed = perTurn();
      setImmediate(nextTurn);
    }
    if (taken < allowed && waiting.length === 0) {
      taken++;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}
