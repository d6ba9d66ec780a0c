/** When a job is due: the times of a cron pattern in a time zone. */
import { createRequire } from "node:module";
import { instantsOf, localTime, type TimeZone, timeZone } from "../../../collection/time-zones.ts";

type Croner = typeof import("croner");
type Cron = InstanceType<Croner["Cron"]>;

let loaded: Croner | undefined;

/** Only a service with jobs loads it. */
function croner(): Croner {
  loaded ??= createRequire(import.meta.url)("croner") as Croner;
  return loaded;
}

/** The pattern with local times in place of instants: both are texts such as 02:30, and UTC has all of them. */
function patternOf(cron: string): Cron {
  return new (croner().Cron)(cron, { mode: "5-part", timezone: "UTC", paused: true });
}

/** Throws an Error, whose message completes a sentence about the pattern, unless the pattern has five fields and comes again. */
export function requirePattern(cron: string): void {
  if (cron.trim().split(/\s+/).length !== 5)
    throw new Error("It needs five fields: minute, hour, day of the month, month and day of the week.");
  if (nextIn(readPattern(cron), Date.UTC(2000)) === undefined)
    throw new Error("It never comes, because no month has such a day.");
}

function readPattern(cron: string): Cron {
  try {
    return patternOf(cron);
  } catch (error) {
    throw new Error(`${(error as Error).message.replace(/^CronPattern: /, "").replace(/\.$/, "")}.`);
  }
}

/** The last time that there is. */
const never = 8_640_000_000_000_000;

/** A change of the offset of a zone, in milliseconds. */
interface OffsetChange {
  at: number;
  before: number;
  after: number;
}

/**
 * The times of one job. A local time that the clocks skip counts when they have skipped it. A local time that they show twice counts the first
 * time. A job of every hour also counts the second time, because it would pause for an hour otherwise.
 */
export class Schedule {
  readonly #pattern: Cron;
  /** `undefined`: UTC. */
  readonly #zone: TimeZone | undefined;
  readonly #isOfEveryHour: boolean;

  /** The pattern and the zone were checked before. */
  constructor(cron: string, zone: string) {
    this.#pattern = patternOf(cron);
    this.#zone = zone === "UTC" ? undefined : timeZone(zone);
    this.#isOfEveryHour = new (croner().CronPattern)(cron, "UTC", { mode: "5-part" }).hour.every(Boolean);
  }

  /** The first time after an instant. All are Unix times in milliseconds. */
  next(after: number): number {
    const local = nextIn(this.#pattern, this.#latestLocal(after));
    const first = local === undefined ? never : this.#firstAt(local);
    const change = this.#repetitionBefore(first);
    if (change === undefined) return first;
    const again = nextIn(this.#pattern, Math.max(after, change.at - 1) + change.after);
    return again !== undefined && again < change.at + change.before ? again - change.after : first;
  }

  /** The last time that is not after an instant; `undefined` if every time is after it. */
  latest(at: number): number | undefined {
    const local = previousIn(this.#pattern, this.#latestLocal(at));
    const latest = local === undefined ? undefined : this.#firstAt(local);
    const change = this.#repetitionBefore(at);
    if (change === undefined) return latest;
    const end = change.at + change.before;
    const again = previousIn(this.#pattern, Math.min(at + change.after, end - 1));
    const isRepeated = again !== undefined && again >= change.at + change.after;
    return isRepeated ? Math.max(again - change.after, latest ?? 0) : latest;
  }

  /** How many times there are from one of them to another one, at most `most`. */
  count(first: number, last: number, most: number): number {
    let count = 1;
    for (let at = first; at < last && count < most; at = this.next(at)) count++;
    return count;
  }

  /** The latest local time that the clocks have shown until an instant. They go back, but what they have shown does not count again. */
  #latestLocal(at: number): number {
    const local = localTime(this.#zone, at);
    const change = this.#changeBefore(at);
    return change === undefined ? local : Math.max(local, change.at + change.before - 1);
  }

  /** The first instant at which the clocks show a local time, or a later one if they skip it. */
  #firstAt(local: number): number {
    if (this.#zone === undefined) return local;
    const instants = instantsOf(this.#zone, local);
    if (instants.length > 0) return Math.min(...instants);
    const { changes, offsets } = this.#zone;
    const n = changes.findIndex((at, n) => (at + (offsets[n + 1] as number)) * 1_000 > local);
    return (changes[n] as number) * 1_000;
  }

  /** The last change before an instant after which clocks show times again that count again. */
  #repetitionBefore(at: number): OffsetChange | undefined {
    const change = this.#isOfEveryHour ? this.#changeBefore(at) : undefined;
    return change !== undefined && change.after < change.before ? change : undefined;
  }

  /** The last change of the offset that is not after an instant. */
  #changeBefore(at: number): OffsetChange | undefined {
    const { changes, offsets } = this.#zone ?? { changes: [], offsets: [] };
    const n = changes.findLastIndex((seconds) => seconds * 1_000 <= at);
    if (n === -1) return undefined;
    const ms = (seconds: number | undefined) => (seconds as number) * 1_000;
    return { at: ms(changes[n]), before: ms(offsets[n]), after: ms(offsets[n + 1]) };
  }
}

/** The first local time after another one. */
function nextIn(pattern: Cron, local: number): number | undefined {
  return pattern.nextRun(new Date(local))?.getTime();
}

/** The last local time that is not after another one. */
function previousIn(pattern: Cron, local: number): number | undefined {
  return pattern.previousRuns(1, new Date(local + 1))[0]?.getTime();
}
