/**
 * How much work one turn of the event loop does. It does less while clients read, because a read waits until the turn is
 * over.
 */

/** Work for one turn. */
export interface Pace {
  /** Says that somebody reads. */
  noteRead(): void;
  /** How many pieces of work this turn may do; asked once a turn. */
  perTurn(): number;
}

/** Turns for which a read is remembered. */
const memoryTurns = 16;

/** Pieces of work that one turn does. */
const alone = 8;
const besideReads = 2;

/** A pace for one event loop. */
export function createPace(): Pace {
  let turnsLeft = 0;
  return {
    noteRead: () => {
      turnsLeft = memoryTurns;
    },
    perTurn: () => {
      if (turnsLeft === 0) return alone;
      turnsLeft--;
      return besideReads;
    },
  };
}
