/** The errors of the client. */
import type { ImportReport } from "./import-report.ts";
import type { ProblemCode } from "./problem-codes.ts";
import type { RewindReport } from "./rewind-types.ts";

/** One thing that is wrong with a request: where, which rule, and what would be right. */
export interface Violation {
  readonly in: "body" | "query" | "path" | "header";
  /** A JSON Pointer as a URI fragment into the body. Only with `in: "body"`. */
  readonly pointer?: string;
  readonly name?: string;
  readonly code: string;
  readonly detail: string;
}

/** The problem object of a response (RFC 9457). */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly instance?: string;
  /** The first detail of each invalid attribute, by its dotted path. */
  readonly errors?: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[];
  /** The index of the failed operation of a batch, from 0. */
  readonly operation?: number;
  /** What is wrong with the resources of an import, or what would not fit after a rewind. */
  readonly report?: Partial<ImportReport> & Partial<RewindReport>;
  /** The path of the refused resource, if the request changes several. */
  readonly resource?: string;
  /**
   * The path of the resource that has the same unique values; `null` if the caller cannot read it. Absent if the same request makes it.
   */
  readonly holder?: string | null;
  /** How many resources match, if they are too many. */
  readonly matched?: number;
}

/** Any error of the client. */
export class HoldfastError extends Error {
  override readonly name: string = "HoldfastError";
}

/** The service could not be reached, or its response was incomplete. */
export class NetworkError extends HoldfastError {
  override readonly name: string = "NetworkError";
}

/** No response came in time. */
export class TimeoutError extends NetworkError {
  override readonly name: string = "TimeoutError";
}

/**
 * The write took effect, but its result is unknown: the response to the first attempt was lost, and the response to the retry
 * has no body, because the rights or the network address of the caller have changed in between.
 */
export class ResultHiddenError extends HoldfastError {
  override readonly name: string = "ResultHiddenError";
  constructor(what: string) {
    super(
      `The ${what} took effect, but the response to its retry has no body, because the rights or the network address of the caller have changed. Do not send it again. Read the resources instead.`,
    );
  }
}

/** The service refused the request, or failed. */
export class ProblemError extends HoldfastError {
  override readonly name: string = "ProblemError";
  readonly status: number;
  /** The error code; `undefined` if the response is not from the service, for example from a proxy. */
  readonly code: ProblemCode | undefined;
  readonly problem: Partial<ProblemBody>;
  readonly headers: Headers;
  /** Whether an earlier attempt of the same request may have taken effect, because its response was lost. */
  readonly afterLostAnswer: boolean;

  constructor(answer: { status: number; headers: Headers; body: unknown; afterLostAnswer: boolean }) {
    const problem = problemOf(answer.body);
    const hint = answer.headers.get("holdfast-hint"); // a 404 has no body
    const status = `The service responded with status ${answer.status}`;
    super(problem.detail ?? (hint === null ? `${status}.` : `${status}: ${hint}`));
    this.status = answer.status;
    this.code = problem.code;
    this.problem = problem;
    this.headers = answer.headers;
    this.afterLostAnswer = answer.afterLostAnswer;
  }

  /** The first detail of each invalid attribute, by its dotted path. */
  get errors(): Readonly<Record<string, string>> {
    return this.problem.errors ?? {};
  }
}

/** The resource or collection does not exist, or not for this caller. */
export class NotFoundError extends ProblemError {
  override readonly name: string = "NotFoundError";
}

/** The resource has changed since it was read. */
export class ConflictError<T = Readonly<Record<string, unknown>>> extends ProblemError {
  override readonly name: string = "ConflictError";
  /** The current resource; `undefined` if it was deleted or could not be read. */
  readonly current: T | undefined;

  constructor(refused: ProblemError, current: T | undefined) {
    super({ ...refused, body: refused.problem });
    this.current = current;
  }
}

function problemOf(body: unknown): Partial<ProblemBody> {
  return typeof body === "object" && body !== null ? body : {};
}
