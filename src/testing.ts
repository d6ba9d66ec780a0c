/** The public interface of `holdfast/testing`: a service in memory, for tests of a configuration and its code. */
import type { Client } from "holdfast-client";
import type { HoldfastConfig } from "./index.ts";

/** How a service for tests starts. */
export interface TestOptions {
  /**
   * The time of the service at its start, as Unix time in milliseconds or as a date. Its clock then stands still until `advance`.
   * @default the clock of the machine
   */
  readonly now?: number | Date;
  /** Environment variables with secrets, such as `HOLDFAST_SECRET`. Those of the process do not count. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the log of the service goes: its warnings, and the errors of the code of the configuration. @default the console */
  readonly log?: TestLog;
}

/** Takes the lines of a log. */
export interface TestLog {
  warn(...line: unknown[]): void;
  error(...line: unknown[]): void;
}

/** Who sends requests, without a credential. */
export interface TestCaller {
  readonly subject: string;
  /** @default none */
  readonly roles?: readonly string[];
  /** Those of a token, to which rules can refer. @default none */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A mail that the service would have sent. */
export interface TestMail {
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** The names of the jobs of a configuration, as far as its type knows them. */
export type JobName<C> = C extends { readonly jobs: infer Jobs extends object }
  ? keyof Jobs & string
  : string;

/** A service in memory. */
export interface TestService<C extends object> {
  /**
   * A client that acts as a caller. Without one, its requests have no credential until it signs in, and its rights are those of any client.
   * Throws an Error if there is a caller, but the configuration has no `auth`.
   */
  client(caller?: TestCaller): Client<C>;
  /**
   * As the global `fetch`, but the request stays in the process. Takes a path, such as `/api/v1/topics`, or a URL. The credential in its
   * headers counts.
   */
  readonly fetch: typeof globalThis.fetch;
  /** The last 100 mails, the latest last. Resolves when no mail waits. Throws an Error without `auth.users`. */
  mail(): Promise<readonly TestMail[]>;
  /**
   * Moves the clock forward, as if the machine had slept meanwhile: deletes the resources that have expired, and then runs the jobs that became
   * due, one after the other in the order of the configuration. A job whose time came several times runs once, with the others in `missed`.
   * Consumers run only in `consume`. Rejects with an Error that says which runs have failed, after all of them.
   */
  advance(ms: number): Promise<void>;
  /**
   * Lets the consumers of the configuration handle every change until now, also those that they make meanwhile, and the failed deliveries that are
   * due again by the clock. Nothing else runs them. They work one after the other, in the order of the configuration.
   *
   * Rejects with an Error that says which attempts have failed, after everything else is handled. A failed delivery waits for its next
   * attempt, after `advance`; `_consumers` shows it. If consumers handle each other's changes for ever, the service ends the chain after ten
   * changes, which is such a failure.
   */
  consume(): Promise<void>;
  /**
   * Runs a job now, as if it were due at `time` (Unix time in milliseconds, or a date). Its next time does not change. If a run of the job waits
   * until it is tried again, this run takes its place. Rejects with an Error that says why the run has failed, or that names the jobs of the
   * configuration if it has no such job.
   *
   * @param time the present time of the clock by default
   */
  runJob(name: JobName<C>, time?: number | Date): Promise<void>;
  /** Ends the service, and the functions that still run. Its data is gone. Later requests reject. */
  stop(): Promise<void>;
}

/**
 * Starts a service with a configuration: in memory, in this thread, without a socket and without a file. It can do what the service does,
 * but no other program can reach it, and nothing ends a hook that does not end itself. Throws the faults of the configuration.
 */
export async function start<const C extends HoldfastConfig>(
  config: C,
  options: TestOptions = {},
): Promise<TestService<C>> {
  // The types of a configuration do not need this code.
  const { startInMemory } = await import("./testing/start.ts");
  return startInMemory(config, options) as Promise<TestService<C>>;
}
