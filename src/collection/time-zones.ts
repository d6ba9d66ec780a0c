/**
 * Time zones of the IANA database: their local times. Both stores use the offsets of this file, which come from the ICU data of Node, so
 * their results do not depend on the time zones that a database knows.
 */

/** A time zone: which offset from UTC it has from when on. */
export interface TimeZone {
  name: string;
  /** The instants at which the offset changes, in ascending order: Unix time in seconds. */
  changes: readonly number[];
  /** The offsets in seconds: the first before all changes, and then one from each change on. */
  offsets: readonly number[];
}

/** Offsets are known between these years. Before them, the first offset applies, and after them the last one. */
const years = { first: 1840, last: 2149 } as const;

const from = Date.UTC(years.first) / 1_000;
const end = Date.UTC(years.last + 1) / 1_000;

/** No zone changes its offset twice in this time, in seconds. */
const stepSeconds = 3 * 86_400;

const zones = new Map<string, TimeZone>();

/** The time zone with a name such as `Europe/Berlin`, in any case; `undefined` if it does not exist. */
export function timeZone(name: string): TimeZone | undefined {
  const format = formatFor(name);
  if (format === undefined) return undefined;
  const { timeZone: canonical } = format.resolvedOptions();
  const known = zones.get(canonical) ?? listedZone(canonical) ?? probedZone(canonical, format);
  zones.set(canonical, known);
  return known;
}

/** Whether a time zone with this name exists. */
export function isTimeZone(name: string): boolean {
  return formatFor(name) !== undefined;
}

function formatFor(name: string): Intl.DateTimeFormat | undefined {
  // An offset such as +01:00 is no name.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US-u-ca-iso8601-hc-h23", {
      timeZone: name,
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
}

/** What this file uses of `Temporal.ZonedDateTime`. */
interface Zoned {
  readonly epochMilliseconds: number;
  readonly offsetNanoseconds: number;
  getTimeZoneTransition(direction: "next"): Zoned | null;
}

/** The zone as `Temporal` lists it; `undefined` in Node 24, which does not have it. */
function listedZone(name: string): TimeZone | undefined {
  const { Temporal } = globalThis as {
    Temporal?: {
      Instant: { fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(zone: string): Zoned } };
    };
  };
  const first = Temporal?.Instant.fromEpochMilliseconds(from * 1_000).toZonedDateTimeISO(name);
  if (first === undefined) return undefined;
  const changes: number[] = [];
  const offsets = [first.offsetNanoseconds / 1e9];
  for (
    let next = first.getTimeZoneTransition("next");
    next !== null;
    next = next.getTimeZoneTransition("next")
  ) {
    const seconds = next.epochMilliseconds / 1_000;
    if (seconds >= end) break;
    changes.push(seconds);
    offsets.push(next.offsetNanoseconds / 1e9);
  }
  return { name, changes, offsets };
}

/** The same zone, found by its local times. This takes a fifth of a second. */
export function probedZone(name: string, format = formatFor(name) as Intl.DateTimeFormat): TimeZone {
  const offsetAt = (seconds: number) => offsetIn(format, seconds);
  const changes: number[] = [];
  let offset = offsetAt(from);
  const offsets = [offset];
  for (let at = from; at < end; at += stepSeconds) {
    const next = offsetAt(at + stepSeconds);
    if (next === offset) continue;
    changes.push(changeBetween(at, at + stepSeconds, (seconds) => offsetAt(seconds) === next));
    offsets.push(next);
    offset = next;
  }
  return { name, changes, offsets };
}

/** The first second from which on a condition is true. It is false at the first of two seconds, and true at the second one. */
function changeBetween(before: number, after: number, isAfter: (seconds: number) => boolean): number {
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isAfter(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function offsetIn(format: Intl.DateTimeFormat, seconds: number): number {
  const parts = new Map(
    format.formatToParts(seconds * 1_000).map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const local = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return local / 1_000 - seconds;
}

/** The offset at an instant, both in milliseconds. */
function offsetMs({ changes, offsets }: TimeZone, ms: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle] as number) * 1_000 <= ms) low = middle + 1;
    else high = middle;
  }
  return (offsets[low] as number) * 1_000;
}

/** The local time at an instant, as the UTC time with the same text: both in Unix milliseconds. */
export function localTime(zone: TimeZone | undefined, ms: number): number {
  return zone === undefined ? ms : ms + offsetMs(zone, ms);
}

const dayMs = 86_400_000;

/** The instants of a local time, in Unix milliseconds: none if clocks skip it, and two if it occurs twice. */
export function instantsOf(zone: TimeZone, local: number): readonly number[] {
  const offsets = new Set([-1, 1].map((distance) => offsetMs(zone, local + distance * dayMs)));
  return [...offsets].map((offset) => local - offset).filter((instant) => localTime(zone, instant) === local);
}

/** The first instant of the day that is `days` after the one at an instant, in Unix milliseconds. Without a zone, in UTC. */
export function startOfDay(zone: TimeZone | undefined, ms: number, days: number): number {
  const local = localTime(zone, ms);
  const midnight = local - (((local % dayMs) + dayMs) % dayMs) + days * dayMs;
  if (zone === undefined) return midnight;
  // If clocks skip midnight, or the whole day, the day starts at the change. If they go back over it, the first midnight counts.
  const starts = [-2, 2].map((distance) => midnight - offsetMs(zone, midnight + distance * dayMs));
  const changes = zone.changes.map((seconds) => seconds * 1_000);
  const near = changes.filter((change) => Math.abs(change - midnight) <= 2 * dayMs);
  return Math.min(...[...starts, ...near].filter((start) => localTime(zone, start) >= midnight));
}
