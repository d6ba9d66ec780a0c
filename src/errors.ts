/**
 * The table of error codes, and the two error classes that the code throws on purpose.
 *
 * `Problem` is an error of a request. Every room throws it, and only `http/problem.ts` makes a response of it. Any other
 * error becomes INTERNAL, without details. `StartError` is an error of the person who starts the program.
 */

/** Each error code with its HTTP status and its meaning for the client. A code never changes and is never reused. */
export const problems = {
  MALFORMED_JSON: { status: 400, meaning: "The body is not valid JSON (RFC 8259)." },
  DUPLICATE_MEMBER: { status: 400, meaning: "An object in the body has two members with the same name." },
  NUMBER_OUT_OF_RANGE: { status: 400, meaning: "A number in the body cannot be stored exactly." },
  INVALID_STRING: {
    status: 400,
    meaning: "A string in the body contains a null character or half of a surrogate pair.",
  },
  INVALID_UTF8: { status: 400, meaning: "The body is not valid UTF-8, or it starts with a byte order mark." },
  BODY_REQUIRED: { status: 400, meaning: "The request body is missing." },
  BODY_NOT_OBJECT: { status: 400, meaning: "The body is valid JSON, but not a JSON object." },
  BODY_TOO_DEEP: {
    status: 400,
    meaning: "The body is nested too deeply, or an object in it has too many members.",
  },
  VALIDATION_FAILED: { status: 400, meaning: "The resource does not match the schema of its collection." },
  ID_REQUIRED: { status: 400, meaning: "A replacement must contain the id of the resource." },
  ID_MISMATCH: { status: 400, meaning: "The id in the body differs from that of the resource." },
  INVALID_PARAMETER: {
    status: 400,
    meaning:
      "A query parameter, a member of the body of a QUERY or a bulk change, a header or the path is unknown or has an invalid value.",
  },
  INVALID_REQUEST: { status: 400, meaning: "The request is not a valid HTTP request." },
  INVALID_CURSOR: {
    status: 400,
    meaning: "The cursor is not valid for this list, or the position for these events.",
  },
  INVALID_BATCH: { status: 400, meaning: "The body is not a valid batch." },
  OPERATION_NOT_FOUND: {
    status: 400,
    meaning: "A batch operation names a collection or resource that does not exist.",
  },
  INVALID_IMPORT: {
    status: 400,
    meaning: "Some resources of the import are invalid, or its body cannot be read. Nothing was imported.",
  },
  INVALID_PATCH: {
    status: 400,
    meaning:
      "The body is not a valid patch for its media type, or an update operator does not fit the value of its attribute.",
  },
  PASSWORD_REFUSED: {
    status: 400,
    meaning: "The password is too short, too long, easy to guess, or on a list of stolen passwords.",
  },
  TOO_MANY_COLLECTIONS: {
    status: 400,
    meaning: "The service already has the maximum number of collections.",
  },
  UNAUTHENTICATED: { status: 401, meaning: "The credential is missing or malformed." },
  INVALID_TOKEN: {
    status: 401,
    meaning: "The credential is invalid, for example because it is unknown, expired or revoked.",
  },
  SIGN_IN_FAILED: {
    status: 401,
    meaning:
      "The address, the password or the code is wrong, or the code has expired. The response never says which.",
  },
  INSUFFICIENT_SCOPE: { status: 403, meaning: "The credential does not allow this action." },
  CONFIRMATION_REQUIRED: {
    status: 403,
    meaning: "The change needs a proof of who you are that is at most ten minutes old.",
  },
  SECOND_FACTOR_REQUIRED: {
    status: 403,
    meaning: "The user must first set up a second factor. Until then, the session can do nothing else.",
  },
  CROSS_SITE: {
    status: 403,
    meaning:
      "A page of another site sent the request with the cookie of a user, or sent the browser to a provider.",
  },
  TLS_REQUIRED: { status: 403, meaning: "The service accepts only encrypted requests (https)." },
  METHOD_NOT_ALLOWED: { status: 405, meaning: "The path does not support this method." },
  NOT_ACCEPTABLE: {
    status: 406,
    meaning:
      "The Accept header excludes every available format: JSON, for lists also NDJSON and CSV, for events also a stream.",
  },
  REQUEST_TIMEOUT: { status: 408, meaning: "The request did not arrive completely in time." },
  PATCH_CONFLICT: {
    status: 409,
    meaning: "The JSON Patch does not fit the resource: a test failed, or a path does not exist.",
  },
  TOO_MANY_MATCHES: {
    status: 409,
    meaning: 'More resources match, or would change, than "max" allows. Nothing changed.',
  },
  REWIND_REFUSED: {
    status: 409,
    meaning:
      "Some resources, as they were, do not fit today's schemas, unique attributes or references. Nothing was rewound.",
  },
  TOO_MANY_KEYS: { status: 409, meaning: "The user has as many keys for programs as possible." },
  UNIQUE_VIOLATION: {
    status: 409,
    meaning:
      "Another resource has the same value in a unique attribute, or the same values in a unique combination of attributes.",
  },
  REFERENCE_NOT_FOUND: { status: 400, meaning: "The resource refers to a resource that does not exist." },
  REFERENCED: { status: 409, meaning: "Other resources refer to this resource." },
  IDEMPOTENCY_KEY_INVALID: { status: 400, meaning: "The Idempotency-Key header is not a valid key." },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    meaning:
      "The first request with this Idempotency-Key is still in progress. Try again to get its response.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: "The Idempotency-Key was already used for a different request.",
  },
  ANSWER_NOT_KEPT: {
    status: 409,
    meaning: "The first request with this Idempotency-Key took effect, but its response is no longer stored.",
  },
  WEBHOOKS_UNAVAILABLE: {
    status: 409,
    meaning:
      "The service keeps no history, already has all the webhooks it can have, or no longer has the event.",
  },
  KEY_UNAVAILABLE: {
    status: 409,
    meaning:
      "A valid API key already has the name, the service already has all the keys it can have, the subject is the id of a user, or the key cannot be replaced.",
  },
  FACTOR_UNAVAILABLE: {
    status: 409,
    meaning:
      "The user already has as many passkeys as possible, needs this factor, or has no second factor that recovery codes could replace.",
  },
  JOB_RUNNING: { status: 409, meaning: "The job runs already." },
  TASK_UNAVAILABLE: {
    status: 409,
    meaning:
      "The task cannot be undone: it still works, has changed nothing, was undone already, or there is no history.",
  },
  LAST_ADMINISTRATOR: {
    status: 409,
    meaning: "The account is the last one that administers the service.",
  },
  IDENTITY_UNAVAILABLE: {
    status: 409,
    meaning:
      "The identity belongs to another account, the account has all the identities it can have, or it would be left without a way to sign in.",
  },
  POSITION_GONE: {
    status: 410,
    meaning: "The change log does not have all changes after this position. List the resources again.",
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: "A precondition is not met: If-Match, If-None-Match or If-Unmodified-Since.",
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    meaning: "The collection requires If-Match or If-Unmodified-Since on requests that change a resource.",
  },
  CONTENT_TOO_LARGE: {
    status: 413,
    meaning: "The body, or the result of the request, is larger than the limit.",
  },
  URI_TOO_LONG: { status: 414, meaning: "The request target (path and query) is longer than the limit." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: "The method does not accept this Content-Type." },
  UNSUPPORTED_CONTENT_CODING: { status: 415, meaning: "The body is compressed. Send it uncompressed." },
  EXPECTATION_FAILED: {
    status: 417,
    meaning: "The Expect header asks for something other than 100-continue.",
  },
  MISDIRECTED: { status: 421, meaning: "The Host header does not name this service." },
  QUOTA_EXCEEDED: {
    status: 429,
    meaning: "The caller has sent too many requests, or has too many open event streams. Try again later.",
  },
  HEADERS_TOO_LARGE: { status: 431, meaning: "The headers are larger than the limit." },
  CODE_FAILED: {
    status: 500,
    meaning:
      'The code of this service failed. The detail says whether it may have changed something. The log has the cause, marked with the "instance" of this problem.',
  },
  INTERNAL: {
    status: 500,
    meaning: 'The service failed. Its log has the cause, marked with the "instance" of this problem.',
  },
  DATA_DAMAGED: {
    status: 500,
    meaning: "The request reads stored data that is damaged. The detail names this data.",
  },
  UNAVAILABLE: { status: 503, meaning: "The service cannot process the request now. Try again." },
  STORAGE_FULL: {
    status: 503,
    meaning: "The storage is full. Reads still work. Writes work again once there is free space.",
  },
  QUERY_TOO_EXPENSIVE: {
    status: 503,
    meaning: "The list takes longer than the service allows. The detail says how to make it faster.",
  },
  OUTCOME_UNKNOWN: {
    status: 503,
    meaning:
      "The service does not know whether the write took effect. Read the resource before you repeat the write.",
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

/** An error code. */
export type ProblemCode = keyof typeof problems;

/** One thing that is wrong with a request. */
export interface Violation {
  /** The part of the request. */
  in: "body" | "query" | "path" | "header";
  /** A JSON Pointer as a URI fragment (`#/author/name`); only with `in: "body"`. */
  pointer?: string;
  /** The name of the query parameter or header; never with `in: "body"`. */
  name?: string;
  /** The rule: a JSON Schema keyword, or a word that the reference documents. */
  code: string;
  /** What is wrong and what is right, for a person. */
  detail: string;
}

/** Optional parts of a `Problem`. */
export interface ProblemExtras {
  /** All violations, at most 50. */
  violations?: readonly Violation[];
  /** Headers of the response, such as Allow or Retry-After. */
  headers?: Readonly<Record<string, string>>;
  /** The name of the limit that the request exceeds; only with QUOTA_EXCEEDED. @default "default", the rate limit */
  policy?: string | undefined;
  /** The number of the operation in its batch, from 0. */
  operation?: number | undefined;
  /** The path of the resource that the error is about, if a request changes many. */
  resource?: string | undefined;
  /** The number of resources that match a filter, if they are too many. */
  matched?: number | undefined;
  /** The number of the change in its commit, from 0, if the store knows it. */
  change?: number | undefined;
  /** The report of an import or a rewind. */
  report?: unknown;
  /** The further refusals of the same commit, if the store lists all of them. */
  others?: readonly Problem[] | undefined;
  /** The attributes that the store refuses, as JSON Pointers in fragments. */
  attributes?: readonly string[] | undefined;
  /** The id of the resource that has the unique value, if the store refuses it. */
  takenBy?: string | undefined;
  /** The path of that resource; `null` if the caller cannot read it. */
  holder?: string | null | undefined;
  /** The original error. It goes only to the log. */
  cause?: unknown;
}

/** An error of a request: a code of the table, and a sentence for the client. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;
  readonly policy: string | undefined;
  readonly operation: number | undefined;
  readonly resource: string | undefined;
  readonly matched: number | undefined;
  readonly change: number | undefined;
  readonly attributes: readonly string[];
  readonly takenBy: string | undefined;
  readonly holder: string | null | undefined;
  readonly report: unknown;
  readonly others: readonly Problem[];

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.violations = extras.violations ?? [];
    this.headers = extras.headers ?? {};
    this.policy = extras.policy;
    this.operation = extras.operation;
    this.resource = extras.resource;
    this.matched = extras.matched;
    this.change = extras.change;
    this.attributes = extras.attributes ?? [];
    this.takenBy = extras.takenBy;
    this.holder = extras.holder;
    this.report = extras.report;
    this.others = extras.others ?? [];
  }

  /** The HTTP status of the code. */
  get status(): number {
    return problems[this.code].status;
  }
}

/** A text with a full stop, unless it ends with a mark. */
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
    `the configuration has ${texts.length} errors:`,
    ...[...texts.slice(0, maxListed), ...more].map((line) => `  ${line}`),
  ].join("\n");
}

/**
 * An error of the configuration or the command line. The command line prints it, one line for each fault, and exits with
 * 1. An error without faults means that a value depends on another one, whose faults are reported elsewhere.
 */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly #faults: readonly StartFault[];

  constructor(what: string | readonly StartFault[]) {
    const faults = typeof what === "string" ? [{ path: [], text: what }] : what;
    super(describeFaults(faults.map(({ text }) => text)));
    this.#faults = faults;
  }

  get faults(): readonly StartFault[] {
    return this.#faults;
  }
}

/** Thrown if another program has the store open for writing. */
export class StoreInUse extends StartError {}

/** Thrown if a start must write, and the disk of the store is full. */
export class StoreFull extends StartError {
  /** `store`: the file or address of the store. */
  constructor(store: string) {
    super(`The disk of ${store} is full. Free some space, or choose another store.`);
  }
}
