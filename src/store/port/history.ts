/** How long the change log keeps a change. */

/**
 * The change log keeps a change that is younger than `keepDays`, or among the last `keepChanges` of its collection. In both
 * cases the change must be among the newest `keepBytes` of its collection. `forever` keeps all changes, `none` keeps none.
 */
export type History = { keepDays: number; keepChanges: number; keepBytes?: number } | "forever" | "none";

/** The default of the configuration. */
export const defaultHistory: History = { keepDays: 30, keepChanges: 1_000_000 };

/** What a service without history does not have, for the message at its start. */
export const withoutHistory =
  "old versions cannot be read or restored, _events is 404, and webhooks deliver nothing";

/** The bytes of one change in `keepBytes`, in addition to its text. */
export const bytesOfChange = 100;
