/** A command of the program, and what a command of a capability gets. */
import type { Client } from "holdfast-client";
import type { StoreReader } from "./store/port/store.ts";

/** An option of a command: its text, or its text and how it is given. */
export type OptionRow =
  | string
  | { about: string; choices?: readonly string[]; fallback?: string; isRequired?: true; repeats?: true };

/** A command. Names and texts are as `--help` shows them. `How`: what runs it. */
export interface CommandRow<How> {
  description: string;
  /** The text in the list of all commands. @default the description */
  summary?: string;
  arguments?: Readonly<Record<string, string>>;
  options?: Readonly<Record<string, OptionRow>>;
  examples?: readonly string[];
  commands?: Readonly<Record<string, CommandRow<How>>>;
  /** Commander has checked the number of arguments. */
  run?(args: readonly (string | readonly string[] | undefined)[], how: How): Promise<void>;
}

/** A client without declared collections. */
export type AnyClient = Client<Record<never, never>>;

/** What the program gives to a command of a capability. */
export interface CommandLine<Opened, Settings = unknown> {
  /** The values of its options, by camel-case name. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** Writes lines of the result. */
  print(lines: string | readonly string[]): void;
  /** Writes lines about the work. */
  say(lines: string | readonly string[]): void;
  /**
   * Calls the running service that `--url` names. Throws StartError if it refuses. After a 404, the message names `what`. `undefined`:
   * the command works on the store.
   */
  readonly call: (<T>(call: (client: AnyClient) => Promise<T>, what?: string) => Promise<T>) | undefined;
  /** Reads the configured store. Throws StartError if it does not exist. */
  withReader<T>(work: (store: StoreReader) => Promise<T>): Promise<T>;
  /** The settings of the capability. Throws StartError if the configuration has faults. */
  settings(): Promise<Settings>;
  /** Says which of these roles no rule names. They are not errors, because a later configuration can name them. */
  warnOfUnknownRoles(roles: readonly string[]): Promise<void>;
  /**
   * Opens the service on the configured store, without its work in the background. `creates`: the store need not exist. Throws StartError,
   * also if the store cannot be reached.
   */
  withOpened<T>(work: (opened: Opened) => Promise<T>, how?: { creates?: boolean }): Promise<T>;
}

/** The text of `--token`. `what`: whose token it is, and what it is for. */
export const tokenFor = (what: string) => `API key or JSON Web Token ${what} (environment: HOLDFAST_TOKEN)`;

/** The options of commands that work on a store or on a running service. */
export const urlOptions = {
  "--url <url>": "use a running service: the URL of its collections",
  "--token <token>": tokenFor("of an administrator, for --url"),
} as const;
