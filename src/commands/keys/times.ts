/** Times as the flags of the command line give them. */
import { StartError } from "../../errors.ts";

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a time such as 90d, 12h or 30m. Throws StartError. */
export function parseDuration(text: string, flag: string): number {
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (number === undefined)
    throw new StartError(`${flag} must be a time such as 90d, 12h or 30m, and is "${text}".`);
  return Number(number) * units[unit as keyof typeof units];
}

/** The moment of a time from now, or of a date. Throws StartError, also for one that is over. */
export function parseExpiry(text: string, now: number): number {
  const date = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : undefined;
  if (Number.isNaN(date)) throw new StartError(`--expires must be a date that there is, and is "${text}".`);
  const moment = date ?? now + parseDuration(text, "--expires");
  if (moment > now) return moment;
  throw new StartError(`--expires must be a time to come, and is "${text}".`);
}
