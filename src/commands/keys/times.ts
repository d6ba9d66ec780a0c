/** Reads the times that options of `holdfast keys` give. */
import { StartError } from "../../errors.ts";

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time such as 90d, 12h or 30m, in milliseconds. Throws StartError. */
export function parseDuration(text: string, flag: string): number {
  const duration = durationOf(text);
  if (duration !== undefined) return duration;
  throw new StartError(`${flag} must be a time such as 90d, 12h or 30m, not "${text}".`);
}

/** A time from now or a date, as Unix time in milliseconds. Throws StartError, also if it is in the past. */
export function parseExpiry(text: string, now: number): number {
  const duration = durationOf(text);
  const time = duration === undefined ? parseDate(text) : now + duration;
  if (time > now) return time;
  throw new StartError(`--expires must be in the future, unlike "${text}".`);
}

function durationOf(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * units[unit as keyof typeof units];
}

function parseDate(text: string): number {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+Z)?$/.exec(text) ?? [];
  if (date === undefined) {
    throw new StartError(
      `--expires must be a time such as 90d, 12h or 30m, or a date such as 2027-01-31, not "${text}".`,
    );
  }
  const time = Date.parse(text);
  // `Date.parse` reads 30 February as a day in March.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(date)) return time;
  throw new StartError(`--expires must be a date that exists, unlike "${text}".`);
}
