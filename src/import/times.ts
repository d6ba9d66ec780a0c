/** Times as other programs write them, in the form of the service: `YYYY-MM-DDThh:mm:ss.SSSZ`. */
import { isDate, isTimestamp } from "../collection/dates.ts";
import { instantsOf, type TimeZone } from "../collection/time-zones.ts";

/** A converted time, or why a text that looks like a time cannot be converted. `isCut`: digits below milliseconds were not zero. */
export type ReadTime = { text: string; isCut: boolean } | { fault: string; lacksZone?: true };

/** The parts that all forms share: a day, hours and minutes, perhaps seconds and a fraction. */
const local = String.raw`(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?`;

/** RFC 3339, ISO 8601 (Python), PostgreSQL (`+00`), and the name UTC. */
const usual = new RegExp(String.raw`^${local} ?(Z|z|UTC|[+-]\d{2}(?::?\d{2}(?::\d{2})?)?)?$`);

/** The `String` of a time in Go: an offset, the name of the zone, and perhaps a reading of the monotonic clock. */
const ofGo = new RegExp(
  String.raw`^${local} ([+-]\d{4}) (?:[A-Z]{3,5}|[+-]\d{2}(?:\d{2})?)(?: m=[+-]\d+\.\d+)?$`,
);

/** Most texts are no times, and need no further test. */
const looksLikeTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d/;

/** Reads a time; `undefined` if the text is not one of the forms. `zone`: the time zone of times without an offset. */
export function readTime(text: string, zone: TimeZone | undefined): ReadTime | undefined {
  if (!looksLikeTime.test(text)) return undefined;
  const [, day, hour, minute, second = "00", fraction = "", offset] =
    usual.exec(text) ?? ofGo.exec(text) ?? [];
  if (day === undefined) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const wall = `${day}T${hour}:${minute}:${second}.${milliseconds}Z`;
  if (!isDate(day) || !isTimestamp(wall)) return { fault: "is a time that does not exist" };
  const found = instantOf(wall, offset, zone);
  if (typeof found === "object") return found;
  const time = new Date(found).toISOString();
  if (!isTimestamp(time)) return { fault: "is before the year 0 or after the year 9999 in UTC" };
  return { text: time, isCut: /[1-9]/.test(fraction.slice(3)) };
}

/** The Unix time in milliseconds of a time on a clock. */
function instantOf(
  wall: string,
  offset: string | undefined,
  zone: TimeZone | undefined,
): number | Extract<ReadTime, { fault: string }> {
  const local = Date.parse(wall);
  if (offset === undefined)
    return zone === undefined ? { fault: "has no offset from UTC", lacksZone: true } : instantIn(zone, local);
  const [, sign, hours = "0", minutes = "0", seconds = "0"] =
    /^([+-])(\d{2}):?(\d{2})?:?(\d{2})?$/.exec(offset) ?? [];
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59)
    return { fault: "has an offset that does not exist" };
  const difference = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return local - (sign === "-" ? -difference : difference);
}

/** The Unix time of a time on the clocks of a zone. `local`: the same time in UTC. */
function instantIn(zone: TimeZone, local: number): number | { fault: string } {
  const [only, other] = instantsOf(zone, local);
  if (only === undefined) return { fault: `does not exist in ${zone.name}, where clocks skip it` };
  if (other !== undefined) return { fault: `occurs twice in ${zone.name}: add its offset from UTC` };
  return only;
}
