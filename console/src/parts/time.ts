/** Times, as people read them. */

const steps = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 7],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absolute = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** The date and the time. A text that is no time stays as it is. */
export function formatInstant(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : absolute.format(time);
}

/** "2 minutes ago" within a week, a date otherwise. A text that is no time stays as it is. */
export function formatTime(text: string, now = Date.now()): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return text;
  let amount = (time - now) / 1_000;
  for (const [unit, size] of steps) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return absolute.format(time);
}
