/** Times that are given relative to now: `now`, `now-7d`, `today+1h`. */

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** The time that a text means at a time, both as Unix time in milliseconds; `undefined` for any other text. */
export function relativeTime(written: string, now: () => number): number | undefined {
  const [, from, sign, count = "0", unit = "s"] =
    /^(now|today)(?:([+-])([0-9]{1,6})([smhdw]))?$/.exec(written) ?? [];
  if (from === undefined) return undefined;
  const start = from === "now" ? now() : now() - (now() % unitMs.d);
  const distance = Number(count) * unitMs[unit as keyof typeof unitMs];
  return sign === "-" ? start - distance : start + distance;
}
