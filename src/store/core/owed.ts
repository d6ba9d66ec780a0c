/** Changes that the log keeps for webhooks although they are outdated, because a receiver does not have them yet. */

/** The internal collection with the state of each webhook. The sweep of the log reads the member `owes` of its resources. */
export const statesOfWebhooks = "_webhook_states";

/** The name in `owes` for all collections that it does not name. */
export const otherCollections = "*";

/** The log keeps an outdated change for webhooks at most this long, in milliseconds. */
export const maxOwedMs = 7 * 24 * 3_600_000;

/** A part of the state of a webhook: the sequence in each collection after which its receiver needs every change. */
export interface Owing {
  owes?: Readonly<Record<string, number>> | undefined;
}

/** The sequence after which the log must keep the changes, for each collection by its number. `states` are the texts of the states. */
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
