/**
 * How much work one turn of the event loop does. It does less while clients read, because a read waits until the turn is
 * over.
 */

/** How many pieces of work each turn of an event loop does. */
export interface TurnBudget {
  /** Records that a client reads. */
  noteRead(): void;
  /** The number of pieces of work for this turn. Call it once a turn. */
  perTurn(): number;
}

/** The number of turns after a read that do less work. */
const turnsAfterRead = 16;

/** The pieces of work in a turn, without reads and after a read. */
const fullWork = 8;
const reducedWork = 2;

/** Creates the budget of one event loop. */
export function createTurnBudget(): TurnBudget {
  let turnsLeft = 0;
  return {
    noteRead: () => {
      turnsLeft = turnsAfterRead;
    },
    perTurn: () => {
      if (turnsLeft === 0) return fullWork;
      turnsLeft--;
      return reducedWork;
    },
  };
}
