/** How several commands put things. */
import { didYouMean } from "../collection/nearest.ts";
import { describeFaults, type Problem, StartError } from "../errors.ts";

/** `1 resource`, `2 resources`, `171,075 resources`. */
export function counted(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** `20 bytes`, `106.5 kB`, `12.3 MB`. A kB is 1,000 bytes. */
export function sized(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, "byte");
  const [divisor, unit] = bytes < 999_950 ? [1e3, "kB"] : [1e6, "MB"]; // from there on, rounding gives 1,000.0 kB
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${(bytes / divisor).toLocaleString("en", digits)} ${unit}`;
}

/** A JSON value's text on one line, cut where it gets long. */
export function excerpt(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > 80 ? `${json.slice(0, 76)}…"` : json;
}

/** A sentence that names the nearest of the known names, or all of them where none is near. */
export function suggest(name: string, known: readonly string[]): string {
  if (known.length === 0) return "None exist.";
  const shown = known.slice(0, 10).join(", ");
  return didYouMean(name, known).trimStart() || `Known names: ${shown}${known.length > 10 ? ", …" : ""}.`;
}

/** A message without the API keys and passwords of addresses that somebody put in the wrong place. */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/(hf_[0-9a-z]{8}_)[0-9a-z]+/g, "$1…")
    .replaceAll(/([a-z][a-z0-9+.-]+:\/\/?[^\s:@/]*:)[^\s]*@/gi, "$1…@");
}

/** The message of an error, without secrets: each fault is one line. */
export function messageOf(error: StartError | Problem): string {
  const texts = error instanceof StartError ? error.faults.map(({ text }) => text) : [error.message];
  return describeFaults(texts.map(toOneLine));
}

/** A message as one line, without secrets. Commander writes `error: …`, and puts its suggestion in a line of its own. */
export function toOneLine(text: string): string {
  return withoutSecrets(text)
    .trim()
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
}
