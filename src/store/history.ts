/** How long the changes of resources are kept. */

/**
 * A change is kept as long as it is younger than `keepDays` or among the last `keepChanges` of its collection, but never
 * beyond the newest `keepBytes` of its collection; or forever, or not at all.
 */
export type History = { keepDays: number; keepChanges: number; keepBytes?: number } | "forever" | "none";

/** What is kept unless the configuration says otherwise. */
export const defaultHistory: History = { keepDays: 30, keepChanges: 1_000_000 };

/** What one change counts of `keepBytes` beside the text that it keeps. */
export const bytesOfChange = 100;
