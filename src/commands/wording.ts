/** Texts of messages that several commands print. */
import { suggest } from "../collection/messages.ts";
import { describeFaults, type Problem, StartError } from "../errors.ts";
import { isSingleFile } from "../program.ts";

/** `1 resource`, `2 resources`, `171,075 resources`. */
export function counted(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** `20 bytes`, `106.5 kB`, `12.3 MB`. A kB is 1,000 bytes. */
export function sized(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, "byte");
  const [divisor, unit] = bytes < 999_950 ? [1e3, "kB"] : [1e6, "MB"]; // 999,950 bytes round to 1,000.0 kB
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${(bytes / divisor).toLocaleString("en", digits)} ${unit}`;
}

/** A JSON value as one line of at most 80 characters. */
export function excerpt(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > 80 ? `${json.slice(0, 76)}…` : json;
}

/** The error for a collection that does not exist. */
export function unknownCollection(name: string, known: readonly string[]): StartError {
  return new StartError(`The collection "${name}" does not exist. ${suggest(name, known)}`);
}

/** `1.0 s`, the time since a result of `performance.now`. */
export function timeSince(start: number): string {
  return `${((performance.now() - start) / 1_000).toFixed(1)} s`;
}

/** A message without the secrets of API keys and without the passwords in addresses. */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/(hf_[0-9a-z]{8}_)[0-9a-z]+/g, "$1…")
    .replaceAll(/([a-z][a-z0-9+.-]+:\/\/?[^\s:@/]*:)[^\s]*@/gi, "$1…@");
}

/** The message of an error, without secrets. Each fault is one line. */
export function messageOf(error: StartError | Problem): string {
  const texts = error instanceof StartError ? error.faults.map(({ text }) => text) : [error.message];
  return describeFaults(texts.map(toOneLine));
}

/** A message as one line, without secrets. Commander's messages begin with `error: ` and have several lines. */
export function toOneLine(text: string): string {
  return withCommand(withoutSecrets(text))
    .trim()
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
}

/** A text with the command that starts this program. The single executable is not part of a package, so `npx` cannot find it. */
export function withCommand(text: string): string {
  return isSingleFile ? text.replaceAll("npx holdfast", "holdfast") : text;
}

/** A word of a command, in quotes if a shell would read it otherwise. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
