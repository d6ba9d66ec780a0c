/** One option of the configuration. `config/options.ts` is the table of the core's options; each capability has rows of its own. */
import type { AuthSettings } from "./access/authenticate.ts";
import type { StoreAddress } from "./store/address.ts";

/** Checks a value of an option, and returns it as the program uses it. `Given`: what a configuration file can contain. */
export interface Reader<Value, Given = Value> {
  (value: unknown): Value;
  /** Only for types: no reader has it. */
  readonly given?: Given;
}

/** One option. */
export interface Option<Value, Given = Value> {
  /** The flag as `--help` shows it: `-p, --port <number>`. */
  flag?: `${string}--${string} <${string}>`;
  /** The environment variable. */
  env?: string;
  /** The default as the reference shows it. */
  shownDefault: string;
  /** The value if the option is not set. */
  fallback: Value;
  about: string;
  /** Whether messages leave out a wrong value, because it can contain a secret. @default false */
  isPrivate?: boolean;
  /** The value as administrators see it, without secrets. @default the value itself, or `(hidden)` if it is private */
  show?(value: Value, effective: Effective): unknown;
  /** Returns the checked value, or throws an Error whose message says what is right. */
  read: Reader<Value, Given>;
}

/** The parts of a configuration whose values depend on several options. */
export interface Effective {
  store: StoreAddress;
  openCollections: boolean;
  corsOrigins: readonly string[];
  readOnly: boolean;
  auth: AuthSettings | undefined;
  keyRoles: readonly string[];
  /** The folder to which relative paths refer. */
  cwd: string;
}

/** An option with its default. Without `shownDefault`, the reference shows the default itself. */
export function option<Value, Given>(
  row: Omit<Option<Value, Given>, "shownDefault"> & { shownDefault?: string },
): Option<Value, Given> {
  return { shownDefault: describeDefault(row.fallback), ...row };
}

/** An option without a default. */
export function optional<Value, Given>({
  read,
  ...row
}: Pick<Option<Value, Given>, "about" | "isPrivate" | "read"> & {
  shownDefault?: string;
  show?(value: Value | undefined, effective: Effective): unknown;
}): Option<Value | undefined, Given> {
  return option<Value | undefined, Given>({ fallback: undefined, ...row, read });
}

function describeDefault(fallback: unknown): string {
  if (fallback === undefined || Array.isArray(fallback)) return "none"; // every default list is empty
  return typeof fallback === "string" ? `\`${fallback}\`` : String(fallback);
}
