/** Everything that the client throws on purpose. */
import type { ProblemCode } from "./problem-codes.ts";

/** One thing that is wrong with a request: where, which rule, and what would be right. */
export interface Violation {
  readonly in: "body" | "query" | "path" | "header";
  /** JSON Pointer as a URI fragment into the content; only with `in: "body"`. */
  readonly pointer?: string;
  readonly name?: string;
  readonly code: string;
  readonly detail: string;
}

/** The problem object of an answer (RFC 9457). */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly instance?: string;
  /** Details by the dotted path of the attribute that is at fault. */
  readonly errors?: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[];
  /** Which operation of a batch it is about, from 0. */
  readonly operation?: number;
}

/** What went wrong between calling and the answer that was wanted. */
export class HoldfastError extends Error {
  override readonly name: string = "HoldfastError";
}

/** The service could not be reached, or its answer did not arrive whole. */
export class NetworkError extends HoldfastError {
  override readonly name: string = "NetworkError";
}

/** No answer came in time. */
export class TimeoutError extends NetworkError {
  override readonly name: string = "TimeoutError";
}

/** The service answered that it did not do it. */
export class ProblemError extends HoldfastError {
  override readonly name: string = "ProblemError";
  readonly status: number;
  /** `undefined` where the answer was no problem of the service's, such as a proxy's. */
  readonly code: ProblemCode | undefined;
  readonly problem: Partial<ProblemBody>;
  readonly headers: Headers;
  /** Whether an earlier try of the same request, whose answer was lost, may have taken effect. */
  readonly afterLostAnswer: boolean;

  constructor(answer: { status: number; headers: Headers; body: unknown; afterLostAnswer: boolean }) {
    const problem = problemOf(answer.body);
    super(problem.detail ?? `The service responded with status ${answer.status}.`);
    this.status = answer.status;
    this.code = problem.code;
    this.problem = problem;
    this.headers = answer.headers;
    this.afterLostAnswer = answer.afterLostAnswer;
  }

  /** Details by the dotted path of the attribute that is at fault. */
  get errors(): Readonly<Record<string, string>> {
    return this.problem.errors ?? {};
  }
}

/** There is no such resource or collection, or not for this caller. */
export class NotFoundError extends ProblemError {
  override readonly name: string = "NotFoundError";
}

/** The resource is not in the state any more in which it was read. */
export class ConflictError<T = Readonly<Record<string, unknown>>> extends ProblemError {
  override readonly name: string = "ConflictError";
  /** The resource as it is now; `undefined` where it is gone or could not be read. */
  readonly current: T | undefined;

  constructor(refused: ProblemError, current: T | undefined) {
    super({ ...refused, body: refused.problem });
    this.current = current;
  }
}

function problemOf(body: unknown): Partial<ProblemBody> {
  return typeof body === "object" && body !== null ? body : {};
}
