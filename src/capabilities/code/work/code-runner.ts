/** Runs the functions of a configuration that may wait: those of routes, consumers and jobs. */
import type { FailureReason } from "../hooks/hook-call.ts";

/** What runs such functions. */
export interface CodeRunner {
  /** Calls a function once. Never rejects. */
  run(call: CodeCall): Promise<CodeOutcome>;
  stop(): Promise<void>;
}

/** One call of a function. */
export interface CodeCall {
  /** The place of the function in the configuration, such as `jobs.digest.run`. */
  readonly place: string;
  /** Plain data. Its members are members of the argument that the function gets, beside `signal` and the clients. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The clients of the argument, by the names of its members, such as `client` and `service`. Each acts as one caller. */
  readonly clients: Readonly<Record<string, InsideFetch>>;
  /** After this time, the signal of the function is aborted, and soon after it the call has failed. */
  readonly timeoutMs: number;
  /** Ends the call early, such as when the socket of a client closes. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a call. `value`: what the function has returned, as plain data. */
export type CodeOutcome =
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly message: string };

/** Sends a request inside the process, as one caller. It has the rights, the limits and the errors of a request. */
export type InsideFetch = (request: InsideRequest) => Promise<InsideResponse>;

/** A request inside the process. */
export interface InsideRequest {
  readonly method: string;
  /** The path with the prefix of the service, and the query. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The response to a request inside the process. */
export interface InsideResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}
