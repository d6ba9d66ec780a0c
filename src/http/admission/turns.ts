/**
 * Shares the turns of the event loop. Long work pauses, so that other requests get a turn. If many writes arrive at once, only
 * a few start in each turn, so that a read waits only for these few.
 */

/** Waits for a turn. The first few callers in each turn of the event loop do not wait. */
export type TakeTurn = () => Promise<void>;

/** Work on this many bytes can block the event loop for a noticeable time. Smaller work does not wait. */
export const largeBytes = 65_536;

/** Gives other work a turn after work on this many bytes of JSON; `undefined` if they are too few to matter. */
export function pauseAfter(bytes: number): Promise<void> | undefined {
  if (bytes < largeBytes) return undefined;
  return nextTurn();
}

/** Gives other work a turn. */
export function nextTurn(): Promise<void> {
  // Twice: the first one runs at the end of this turn, before new requests are read.
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** The same as `pauseAfter`, for work in pieces. Call it after each piece: it adds up the bytes. */
export function createPauses(): (bytes: number) => Promise<void> | undefined {
  let sum = 0;
  return (bytes) => {
    sum += bytes;
    const pause = pauseAfter(sum);
    if (pause !== undefined) sum = 0;
    return pause;
  };
}

/** After this time, other requests get a turn. In milliseconds. */
const stretchMs = 10;

/** Makes a function that gives other work a turn if the last turn was 10 ms ago. Call it after each piece of work. */
export function createTimedPauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < stretchMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

/** Makes a `TakeTurn` that starts `perTurn()` callers in each turn of the event loop. */
export function createTurns(perTurn: () => number): TakeTurn {
  const waiting: (() => void)[] = [];
  let allowed = 0;
  let taken = 0;

  function startSome(): void {
    allowed = perTurn();
    const next = waiting.splice(0, allowed);
    taken = next.length;
    for (const start of next) start();
    if (taken > 0) setImmediate(startSome);
  }

  return () => {
    if (taken === 0) {
      allowed = perTurn();
      setImmediate(startSome);
    }
    if (taken < allowed && waiting.length === 0) {
      taken++;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}
