/** The options of the configuration that a search finds. */
import type { ServiceConfiguration } from "holdfast-client";

type Options = ServiceConfiguration["options"];

/** The options whose name, value or source contains every word, whatever its case. */
export function optionsThatMatch(
  options: Options,
  { text, onlySet }: { text: string; onlySet: boolean },
): Options {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return options.filter(({ name, value, source, from = "" }) => {
    if (onlySet && source === "default") return false;
    const all = `${name} ${value === null ? "" : shownValue(value)} ${source} ${from}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** A value as text: a string as it is, anything else as JSON. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return value === "" ? '""' : value;
  const short = JSON.stringify(value);
  return short.length <= 60 ? short : JSON.stringify(value, null, 2);
}
