/** Runs the functions of a configuration that may wait: those of routes, consumers and jobs. */
import type { InsideFetch } from "../../../http/inside.ts";
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
