/**
 * The problems that Holdfast answers with: one table, and the one error class.
 *
 * Every room throws `Problem`; only `http/problem.ts` makes an answer of it. Any other error is a fault of
 * ours and leaves as INTERNAL, without its details. Codes are stable words and are never reused.
 */

/** Each problem code: the HTTP status it is answered with, and what it means for the client. */
export const problems = {
  MALFORMED_JSON: { status: 400, meaning: "The content is not one JSON text (RFC 8259)." },
  DUPLICATE_MEMBER: { status: 400, meaning: "An object in the content has two members of the same name." },
  NUMBER_OUT_OF_RANGE: { status: 400, meaning: "A number in the content cannot be kept exactly." },
  INVALID_STRING: {
    status: 400,
    meaning: "A string in the content cannot be kept: it holds a lone surrogate or a null character.",
  },
  INVALID_UTF8: { status: 400, meaning: "The content is not UTF-8 without a byte order mark." },
  BODY_REQUIRED: { status: 400, meaning: "The request needs content and has none." },
  BODY_NOT_OBJECT: { status: 400, meaning: "The content is JSON, but not a JSON object." },
  BODY_TOO_DEEP: {
    status: 400,
    meaning: "The content is nested too deeply, or an object has too many members.",
  },
  VALIDATION_FAILED: { status: 400, meaning: "The resource does not fit the schema of its collection." },
  ID_REQUIRED: { status: 400, meaning: "A replacement must carry the id of the resource." },
  ID_MISMATCH: { status: 400, meaning: "The id in the content is not the id in the path." },
  INVALID_PARAMETER: {
    status: 400,
    meaning:
      "A query parameter (or a member of a QUERY), a header or the path is not understood or has a wrong value.",
  },
  INVALID_REQUEST: { status: 400, meaning: "The request is not a well-formed HTTP request." },
  INVALID_CURSOR: { status: 400, meaning: "The cursor is not one that this list gave out." },
  INVALID_BATCH: { status: 400, meaning: "The content is not a list of operations as a batch takes it." },
  OPERATION_NOT_FOUND: {
    status: 400,
    meaning: "An operation of a batch is about something that is not there.",
  },
  INVALID_PATCH: { status: 400, meaning: "The content is not a patch document of the media type it claims." },
  TOO_MANY_COLLECTIONS: { status: 400, meaning: "The service holds as many collections as it may." },
  UNAUTHENTICATED: { status: 401, meaning: "The request has no usable credential, and needs one." },
  INVALID_TOKEN: { status: 401, meaning: "The credential does not hold: it is unknown, expired or revoked." },
  INSUFFICIENT_SCOPE: { status: 403, meaning: "The credential does not let its holder do this." },
  TLS_REQUIRED: { status: 403, meaning: "The service takes no request that is not encrypted (https)." },
  METHOD_NOT_ALLOWED: { status: 405, meaning: "The method is not one of those that this path has." },
  NOT_ACCEPTABLE: {
    status: 406,
    meaning: "The Accept header rules out every format there is: JSON, and for lists NDJSON and CSV too.",
  },
  REQUEST_TIMEOUT: { status: 408, meaning: "The request was not complete in time." },
  PATCH_CONFLICT: {
    status: 409,
    meaning: "A JSON Patch does not fit the resource: a test failed or a path is not there.",
  },
  UNIQUE_VIOLATION: {
    status: 409,
    meaning: "Another resource has the same value in an attribute that is declared unique.",
  },
  REFERENCE_NOT_FOUND: { status: 400, meaning: "The resource refers to one that is not there." },
  REFERENCED: { status: 409, meaning: "Other resources refer to this one." },
  IDEMPOTENCY_KEY_INVALID: { status: 400, meaning: "The Idempotency-Key is not a well-formed key." },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    meaning: "The first request with this Idempotency-Key is still under way. Try again for its answer.",
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, meaning: "The Idempotency-Key was used for another request." },
  ANSWER_NOT_KEPT: {
    status: 409,
    meaning: "The request took effect at its first try, whose answer is no longer kept.",
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: "A precondition (If-Match, If-None-Match, If-Unmodified-Since) is false.",
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    meaning: "The collection takes no PUT, PATCH or DELETE without If-Match or If-Unmodified-Since.",
  },
  CONTENT_TOO_LARGE: { status: 413, meaning: "The content is larger than the limit." },
  URI_TOO_LONG: { status: 414, meaning: "The request target is longer than the limit." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: "The Content-Type is not one that this method takes." },
  UNSUPPORTED_CONTENT_CODING: { status: 415, meaning: "The content is compressed; send it as it is." },
  EXPECTATION_FAILED: {
    status: 417,
    meaning: "The Expect header asks for something other than 100-continue.",
  },
  MISDIRECTED: { status: 421, meaning: "The Host is not a name of this service." },
  QUOTA_EXCEEDED: { status: 429, meaning: "The caller has made as many requests as it may for now." },
  HEADERS_TOO_LARGE: { status: 431, meaning: "The header section is larger than the limit." },
  INTERNAL: { status: 500, meaning: "The service failed. The instance of this problem is in its log." },
  UNAVAILABLE: { status: 503, meaning: "The service cannot take the request now. Try again." },
  STORAGE_FULL: {
    status: 503,
    meaning: "There is no room left to write. Reads go on; writes resume with room.",
  },
  QUERY_TOO_EXPENSIVE: {
    status: 503,
    meaning:
      "The list takes longer than the service allows. The detail says which index would make it quick.",
  },
  OUTCOME_UNKNOWN: {
    status: 503,
    meaning: "The service cannot tell whether the write took effect. Read before you repeat it.",
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

/** A stable word for one kind of problem; the client may switch on it. */
export type ProblemCode = keyof typeof problems;

/** One thing that is wrong with a request: where, which rule, and what would be right. */
export interface Violation {
  /** The part of the request that is meant. */
  in: "body" | "query" | "path" | "header";
  /** JSON Pointer as a URI fragment (`#/author/name`) into the content; only with `in: "body"`. */
  pointer?: string;
  /** The name of the query parameter or header; only with the other places. */
  name?: string;
  /** The rule that is broken: a JSON Schema keyword or a word of the contract. */
  code: string;
  /** What is wrong and what would be right, for a person. */
  detail: string;
}

/** What a `Problem` carries beside its code and detail. */
export interface ProblemExtras {
  /** Every violation found, at most 50. */
  violations?: readonly Violation[];
  /** Header fields that the answer must carry, such as Allow or Retry-After. */
  headers?: Readonly<Record<string, string>>;
  /** Which operation of a batch it is about, from 0. */
  operation?: number | undefined;
  /** Which change of a commit it is about, from 0, where the store can tell. */
  change?: number | undefined;
  /** The error underneath, for the log only. */
  cause?: unknown;
}

/** The one error that any room throws on purpose: a code of the table, and a sentence for the client. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;
  readonly operation: number | undefined;
  readonly change: number | undefined;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.violations = extras.violations ?? [];
    this.headers = extras.headers ?? {};
    this.operation = extras.operation;
    this.change = extras.change;
  }

  /** The HTTP status of the code. */
  get status(): number {
    return problems[this.code].status;
  }
}

/** A detail with its full stop, unless it ends in another mark. */
export function toSentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** One fault of the configuration or the command. */
export interface StartFault {
  /** The path to it in the configuration file; empty if it is not in the file. */
  path: readonly string[];
  /** What is wrong, where, and what would be right, in one line. */
  text: string;
}

/** A message lists at most this many faults. */
const maxListed = 20;

/** The text of a single fault; or the number of faults, then each on a line. Lists at most 20. */
export function describeFaults(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join("");
  const more = texts.length > maxListed ? [`and ${texts.length - maxListed} more`] : [];
  return [
    `the configuration has ${texts.length} faults:`,
    ...[...texts.slice(0, maxListed), ...more].map((line) => `  ${line}`),
  ].join("\n");
}

/**
 * A mistake of the person who starts the program. The command line prints it and exits with 1. Each fault is one line.
 * An error without faults means that a value depends on one that has faults; these are reported in their own place.
 */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly #faults: readonly StartFault[];

  constructor(what: string | readonly StartFault[]) {
    const faults = typeof what === "string" ? [{ path: [], text: what }] : what;
    super(describeFaults(faults.map(({ text }) => text)));
    this.#faults = faults;
  }

  /** All faults. */
  get faults(): readonly StartFault[] {
    return this.#faults;
  }
}
