/** Time zones as `Temporal` of the Node that runs the tests knows them. The service does not use it, because Node 24 has none. */

interface Zoned {
  readonly epochMilliseconds: number;
  toPlainDateTime(): { toString(options: object): string };
  add(duration: object): Zoned;
  startOfDay(): Zoned;
}
interface PlainDate {
  readonly dayOfWeek: number;
  subtract(duration: object): PlainDate;
  toString(): string;
}
interface TemporalApi {
  readonly PlainDate: { from(text: string): PlainDate };
  readonly Instant: { fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(zone: string): Zoned } };
}
const { Instant, PlainDate } = (globalThis as unknown as { Temporal: TemporalApi }).Temporal;

const at = (zone: string, ms: number) => Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);

/** After it, the service keeps the last offset. */
const lastKnown = Date.UTC(2150) - 1;

/** The local time as the text of the UTC time that reads the same. */
export function localTimeAt(zone: string, ms: number): string {
  if (ms > lastKnown) {
    const offset = Date.parse(localTimeAt(zone, lastKnown)) - lastKnown;
    return new Date(ms + offset).toISOString();
  }
  return `${at(zone, ms).toPlainDateTime().toString({ fractionalSecondDigits: 3 })}Z`;
}

/** The first instant of the day that is `days` after the one at an instant. */
export function startOfDayAt(zone: string, ms: number, days: number): number {
  return at(zone, ms).add({ days }).startOfDay().epochMilliseconds;
}

/** The Monday of the week of a day. */
export function mondayOf(day: string): string {
  const date = PlainDate.from(day);
  return date.subtract({ days: date.dayOfWeek - 1 }).toString();
}
