/** Times as the flags of the command line give them. */
import { StartError } from "../../errors.ts";

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a time such as 90d, 12h or 30m. Throws StartError. */
export function parseDuration(text: string, flag: string): number {
  const duration = durationOf(text);
  if (duration !== undefined) return duration;
  throw new StartError(`${flag} must be a time such as 90d, 12h or 30m, not "${text}".`);
}

function durationOf(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * units[unit as keyof typeof units];
}

/** The moment of a time from now, or of a date. Throws StartError, also for one that is over. */
export function parseExpiry(text: string, now: number): number {
  const duration = durationOf(text);
  const moment = duration === undefined ? momentOf(text) : now + duration;
  if (moment > now) return moment;
  throw new StartError(`--expires must be in the future, unlike "${text}".`);
}

function momentOf(text: string): number {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+Z)?$/.exec(text) ?? [];
  if (date === undefined) {
    throw new StartError(
      `--expires must be a time such as 90d, 12h or 30m, or a date such as 2027-01-31, not "${text}".`,
    );
  }
  const moment = Date.parse(text);
  // 30 February would be taken for a day in March.
  if (!Number.isNaN(moment) && new Date(moment).toISOString().startsWith(date)) return moment;
  throw new StartError(`--expires must be a date that exists, unlike "${text}".`);
}
