/** What webhooks are owed: changes that the log keeps, although they are outdated, until their receivers have them. */

/** The internal collection with the state of each webhook. The sweep of the log reads the member `owes` of its resources. */
export const statesOfWebhooks = "_webhook_states";

/** In `owes`: all collections that are not named. */
export const otherCollections = "*";

/** A change is kept no longer than this because it is owed, in milliseconds. */
export const maxOwedMs = 7 * 24 * 3_600_000;

/** A part of the state of a webhook: the sequence in each collection after which it is owed every change. */
export interface Owing {
  owes?: Readonly<Record<string, number>> | undefined;
}

/** The sequence after which each collection, by its number, owes changes. `states` are the texts of the states. */
export function owedIn(
  states: readonly string[],
  collections: readonly { name: string; number: number }[],
): ReadonlyMap<number, number> {
  const all = states.map((text) => (JSON.parse(text) as Owing).owes).filter((owes) => owes !== undefined);
  return new Map(
    collections.flatMap(({ name, number }) => {
      const sequences = all
        .map((owes) => (Object.hasOwn(owes, name) ? owes[name] : owes[otherCollections]))
        .filter((sequence) => sequence !== undefined);
      return sequences.length === 0 ? [] : [[number, Math.min(...sequences)] as const];
    }),
  );
}
