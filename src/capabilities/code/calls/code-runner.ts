/** Runs the functions of a configuration that may wait: those of routes, consumers and jobs. */
import type { InsideFetch } from "../../../http/inside.ts";
import type { ChangeOrigin } from "../../../observe/origins.ts";
import type { Failure } from "../failure.ts";
import type { RouteResponse } from "../routes/respond.ts";
import type { CallerRefusal } from "./caller-refusals.ts";

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
  /** How many requests its clients can send. @default that of the bounds */
  readonly requests?: number;
  /** After this time, the signal of the function is aborted. If it does not end soon after that, the call has failed. */
  readonly timeoutMs: number;
  /** The change that the function handles, for traces. */
  readonly origin?: ChangeOrigin;
  /**
   * Aborts the signal of the function early. Its clients then send nothing more. If the reason is an Error with a sentence, the call has failed
   * if it does not end soon after that. Without one, as when the socket of a client closes, it keeps its time.
   */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a call. `value`: what the function has returned, as plain data. `response`: it has returned `respond(…)`. */
export type CodeOutcome =
  | { readonly kind: "done"; readonly value: unknown; readonly response?: RouteResponse }
  | (Failure & {
      /** What the service has refused to the caller of a route. */
      readonly passedOn?: CallerRefusal;
    });

/** The bounds of calls. Tests have others. */
export interface CodeBounds {
  /** How many requests the clients of one call can send, unless the call says so itself. */
  readonly requests: number;
  /** How long a call can go on after its signal was aborted, in milliseconds. */
  readonly graceMs: number;
  /** How long code can keep its thread busy without waiting, in milliseconds of processor time. */
  readonly busyMs: number;
}

/** The bounds of every service. */
export const codeBounds: CodeBounds = { requests: 100, graceMs: 5_000, busyMs: 5_000 };
