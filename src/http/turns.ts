/**
 * Turns of the event loop, shared fairly: of a crowd of writes that arrives at once a few are taken on in each turn,
 * so that a read which arrives meanwhile waits for a few of them and not for all.
 */

/** Waits until it is the caller's turn; the first ones in each turn of the event loop need not wait. */
export type TakeTurn = () => Promise<void>;

/** Lets so many callers on in each turn of the event loop. */
export function createTurns(perTurn: number): TakeTurn {
  const waiting: (() => void)[] = [];
  let taken = 0;

  function nextTurn(): void {
    const next = waiting.splice(0, perTurn);
    taken = next.length;
    for (const go of next) go();
    if (taken > 0) setImmediate(nextTurn);
  }

  return () => {
    if (taken === 0) setImmediate(nextTurn);
    if (taken < perTurn && waiting.length === 0) {
      taken++;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
}
