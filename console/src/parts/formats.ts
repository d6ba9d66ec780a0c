/** Times, sizes and ids, as people read them. */

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

/** A time of the service in the form of a field for local times; empty if the text is no time. */
export function toLocalTime(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return "";
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

/** The time of a field as the service writes times; the text itself if it is no time. */
export function fromLocalTime(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}

/** What people type of a time: a day, or a day and a local time. */
const typedTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?$/;

/** A local time as people type it, as the service writes times; any other text stays as it is. */
export function completeTime(text: string): string {
  const [, day, hours = "0", minutes = "00", seconds = "00", ms = "0"] = typedTime.exec(text.trim()) ?? [];
  if (day === undefined) return text;
  const time = fromLocalTime(`${day}T${hours.padStart(2, "0")}:${minutes}:${seconds}.${ms.padEnd(3, "0")}`);
  // Browsers read the 31st of February as a day of March.
  return toLocalTime(time).startsWith(day) ? time : text;
}

const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** A number of bytes for people, in powers of 1,000. */
export function bytesText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_000 && unit < units.length - 1) {
    amount /= 1_000;
    unit += 1;
  }
  return `${amount.toLocaleString("en", { maximumFractionDigits: amount < 10 && unit > 0 ? 1 : 0 })} ${units[unit]}`;
}

/** An id with its first and last characters: those of resources that are made one after the other begin alike. */
export function shortId(id: string, first = 8, last = 6): string {
  return id.length > first + last + 6 ? `${id.slice(0, first)}…${id.slice(-last)}` : id;
}
