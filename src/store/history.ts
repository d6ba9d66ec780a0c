/** How long the changes of resources are kept. */

/**
 * A change is kept as long as it is younger than `keepDays` or among the last `keepChanges` of its collection, for ever,
 * or not at all.
 */
export type History = { keepDays: number; keepChanges: number } | "forever" | "none";

/** What is kept where nobody says otherwise. */
export const defaultHistory: History = { keepDays: 30, keepChanges: 1_000_000 };
