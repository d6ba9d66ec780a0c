/** What the tables of options are made of. */

/** One option. `read` gives the checked value, or throws an Error whose message says what would be right. */
export interface Option<Value> {
  /** As `--help` shows it, with the value that it takes: `-p, --port <number>`. */
  flag?: `${string}--${string} <${string}>`;
  env?: string;
  /** As the reference shows it. */
  shownDefault: string;
  fallback: Value;
  about: string;
  /** Whether a wrong value is left out of messages, since it may be a secret or hold one. @default false */
  isPrivate?: boolean;
  read: (value: unknown) => Value;
}

/** The long name of an option's flag, such as `--port`; `undefined` without one. */
export function longFlagOf(option: Pick<Option<unknown>, "about" | "flag">): string | undefined {
  return /--[a-z-]+/.exec(option.flag ?? "")?.[0];
}
