/** Times that are given relative to now: `now`, `now-7d`, `today+1h`. */

import { startOfDay, type TimeZone } from "./time-zones.ts";

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * The time that a text means at a time, both as Unix time in milliseconds; `undefined` for any other text. In a time zone, `today` is the
 * start of the day there, and `today+1d` that of the next day, although a day can have 23 or 25 hours. Without one, days are those of UTC.
 */
export function relativeTime(written: string, now: () => number, zone?: TimeZone): number | undefined {
  const [, from, sign, count = "0", unit = "s"] =
    /^(now|today)(?:([+-])([0-9]{1,6})([smhdw]))?$/.exec(written) ?? [];
  if (from === undefined) return undefined;
  const distance = Number(`${sign ?? ""}${count}`) * unitMs[unit as keyof typeof unitMs];
  if (from === "now") return now() + distance;
  const days = unit === "d" || unit === "w" ? distance / unitMs.d : 0;
  return startOfDay(zone, now(), days) + distance - days * unitMs.d;
}
