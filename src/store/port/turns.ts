/**
 * Takes turns: each caller can use the same part of a batch, by the number and the weight of its calls. A caller that needs less leaves the
 * rest to others. Who had the last turn comes last in the next batch.
 */

/** How callers take turns. */
export interface TurnOptions<Call> {
  /** Who makes a call. */
  callerOf(call: Call): string;
  /** The names of what a call is about. Calls about the same thing keep the order of their arrival. */
  namesOf(call: Call): readonly string[];
}

/** What the next batch has room for. */
export interface Room {
  /** The most calls. */
  most: number;
  /** The most weight of all calls together. */
  weight: number;
  /** Whether nothing is performed now. Then the batch has at least one call. */
  isAlone: boolean;
}

interface Weighed<Call> {
  readonly call: Call;
  readonly weight: number;
}

/** A number of calls, and their weight. */
type Amount = Record<"count" | "weight", number>;

/** The turns of the calls of one batch after the other. */
export class Turns<Call> {
  readonly #options: TurnOptions<Call>;
  /** The callers whose calls wait. Those with the lowest number have waited longest for a turn. */
  #places = new Map<string, number>();
  #nextPlace = 0;

  constructor(options: TurnOptions<Call>) {
    this.#options = options;
  }

  /**
   * Takes calls for the next batch from those that wait, in the order of arrival. A call that is too heavy for the rest of the room ends
   * the batch, so that it comes soon.
   */
  take<Each extends Weighed<Call>>(waiting: readonly Each[], room: Room): { taken: Each[]; left: Each[] } {
    const { callerOf, namesOf } = this.#options;
    const share = shareIn(waiting, callerOf, room);
    const used = new Map<string, Amount>();
    const all = { count: 0, weight: 0 };
    const taken = new Set<Each>();
    const lines = linesOf(waiting, namesOf);
    let isFull = false;
    for (const each of this.#inTurn(waiting)) {
      const caller = callerOf(each.call);
      const own = used.get(caller) ?? { count: 0, weight: 0 };
      const isInShare =
        own.count === 0 || (own.count < share.count && own.weight + each.weight <= share.weight);
      const names = namesOf(each.call);
      const isTaken = !isFull && isInShare && names.every((name) => lines.get(name)?.[0] === each);
      if (isTaken) {
        const isFirst = room.isAlone && all.count === 0;
        isFull = all.count === room.most || (all.weight + each.weight > room.weight && !isFirst);
      }
      if (!isTaken || isFull) continue;
      for (const name of names) lines.get(name)?.shift();
      taken.add(each);
      used.set(caller, { count: own.count + 1, weight: own.weight + each.weight });
      all.count += 1;
      all.weight += each.weight;
    }
    const left = waiting.filter((each) => !taken.has(each));
    this.#keepPlaces(used, left);
    return { taken: waiting.filter((each) => taken.has(each)), left };
  }

  /** The calls of those who have waited longest for a turn come first. */
  #inTurn<Each extends Weighed<Call>>(waiting: readonly Each[]): readonly Each[] {
    const { callerOf } = this.#options;
    for (const { call } of waiting) {
      const caller = callerOf(call);
      if (!this.#places.has(caller)) this.#places.set(caller, this.#nextPlace++);
    }
    const placeOf = ({ call }: Each) => this.#places.get(callerOf(call)) as number;
    return waiting.toSorted((a, b) => placeOf(a) - placeOf(b));
  }

  #keepPlaces(had: ReadonlyMap<string, unknown>, left: readonly Weighed<Call>[]): void {
    const callers = new Set(left.map(({ call }) => this.#options.callerOf(call)));
    const places = new Map<string, number>();
    for (const caller of callers)
      places.set(caller, had.has(caller) ? this.#nextPlace++ : (this.#places.get(caller) as number));
    this.#places = places;
  }
}

/** The calls about each thing, in the order of arrival. */
function linesOf<Call, Each extends Weighed<Call>>(
  waiting: readonly Each[],
  namesOf: (call: Call) => readonly string[],
): Map<string, Each[]> {
  const lines = new Map<string, Each[]>();
  for (const each of waiting)
    for (const name of namesOf(each.call)) {
      const line = lines.get(name);
      if (line === undefined) lines.set(name, [each]);
      else line.push(each);
    }
  return lines;
}

/** What each caller can use of the room. */
function shareIn<Call>(
  waiting: readonly Weighed<Call>[],
  callerOf: (call: Call) => string,
  { most, weight }: Room,
): Amount {
  const amounts = new Map<string, Amount>();
  for (const each of waiting) {
    const caller = callerOf(each.call);
    const before = amounts.get(caller) ?? { count: 0, weight: 0 };
    amounts.set(caller, { count: before.count + 1, weight: before.weight + each.weight });
  }
  const of = (unit: keyof Amount, all: number) =>
    shareOf(
      all,
      Array.from(amounts.values(), (each) => each[unit]),
    );
  return { count: Math.floor(of("count", most)), weight: of("weight", weight) };
}

/** The largest share for which all parts, each cut to it, are together at most `all`. */
export function shareOf(all: number, parts: readonly number[]): number {
  let left = all;
  for (const [n, part] of parts.toSorted((a, b) => a - b).entries()) {
    const share = left / (parts.length - n);
    if (part > share) return share;
    left -= part;
  }
  return Number.POSITIVE_INFINITY;
}
