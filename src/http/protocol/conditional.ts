/** Conditional requests (RFC 9110 §13): compares entity tags and dates in the headers with the current state. */
import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../../errors.ts";
import { acceptedCodings, tagForms, withoutWeakness } from "./codings.ts";
import { type HttpRequest, noStore, revalidate } from "./message.ts";

/** The current state, as preconditions are compared with it. */
export interface Validators {
  /** The entity tag with its quotes and `W/`. */
  etag: string;
  /** The version of a resource. The tags of all its views start with it. `undefined` for a list. */
  version?: number;
  /** The time of the last change, rounded by `lastModifiedMs`; `undefined` if it is not known. */
  lastModifiedMs: number | undefined;
  /** Whether the state changes as time passes. The response then has no tag, so no client stores the content. @default false */
  isPassing?: boolean;
}

/** The headers that say how long clients and proxies can keep content, and its tag. */
export function cachingHeaders({ etag, isPassing }: Validators): Record<string, string> {
  return isPassing === true ? { "cache-control": noStore } : { "cache-control": revalidate, etag };
}

/** The validators of content that changes as time passes. Their tag equals no other. */
export function passingValidators(): Validators {
  return { etag: `W/"${crypto.randomUUID()}"`, lastModifiedMs: undefined, isPassing: true };
}

/** The validators of a resource; `view` is the part of its tag after the version (`access/tags.ts`). */
export function validatorsOf(
  { version, updatedAt }: { version: number; updatedAt: number },
  view: string,
): Validators {
  return { etag: `"${version}${view}"`, version, lastModifiedMs: lastModifiedMs(updatedAt) };
}

/** The validators of the same view of a resource at another version. */
export function atVersion(validators: Validators, version: number): Validators {
  return { ...validators, version, etag: validators.etag.replace(/[0-9]+/, String(version)) };
}

/** Whether the preconditions of a request require that its resource does not exist. */
export function expectsNothing({ headers }: Pick<HttpRequest, "headers">): boolean {
  return headers["if-none-match"]?.trim() === "*" && headers["if-match"] === undefined;
}

/** The problem of a create whose id is taken. It contains the current entity tag if the caller can read the resource. */
export function idTaken(current: Validators | undefined): Problem {
  const message = "A precondition is not met: a resource with this id exists already.";
  if (current === undefined) return new Problem("PRECONDITION_FAILED", message);
  const { etag } = current;
  return new Problem("PRECONDITION_FAILED", `${message} Its ETag is ${etag}.`, { headers: { etag } });
}

/** The result of a request's preconditions: continue, 304, or 412. */
export type PreconditionResult = "proceed" | "unmodified" | "failed";

/**
 * Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since in the order of RFC 9110 §13.2.2. The target
 * must exist, because preconditions are ignored if the response would not be 2xx. `readAt` is the time of a read, and
 * `undefined` for a write.
 */
export function judge(
  headers: IncomingHttpHeaders,
  current: Validators,
  readAt: number | undefined,
): PreconditionResult {
  const ifMatch = headers["if-match"];
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, current, isSameState)) return "failed";
  } else if (isModifiedSince(headers["if-unmodified-since"], current) === true) return "failed";

  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    const isSame = readAt === undefined ? isSameStateWeakly : isFormFor(headers);
    if (matches(ifNoneMatch, current, isSame)) return readAt === undefined ? "failed" : "unmodified";
  } else if (readAt !== undefined && isPublic(current, readAt)) {
    if (isModifiedSince(headers["if-modified-since"], current) === false) return "unmodified";
  }
  return "proceed";
}

/** Whether the response to a read is 304. Throws PRECONDITION_FAILED, with the current entity tag. */
export function isUnmodified(headers: IncomingHttpHeaders, current: Validators, now: number): boolean {
  const verdict = judge(headers, current, now);
  if (verdict === "failed") throw preconditionFailed(headers, current);
  return verdict === "unmodified" && current.isPassing !== true;
}

/**
 * Throws PRECONDITION_FAILED, with the current entity tag, if a precondition of a write is not met. If preconditions are
 * `required`, throws PRECONDITION_REQUIRED if none names the state that the write is meant for.
 */
export function requirePreconditions(
  headers: IncomingHttpHeaders,
  current: Validators,
  { required = false }: { required?: boolean } = {},
): void {
  if (required && !namesState(headers)) throw preconditionRequired();
  if (judge(headers, current, undefined) === "failed") throw preconditionFailed(headers, current);
}

/** Whether a precondition names one state. An invalid date is ignored, and If-None-Match only excludes states. */
function namesState(headers: IncomingHttpHeaders): boolean {
  if (headers["if-match"] !== undefined) return true;
  const since = headers["if-unmodified-since"];
  return since !== undefined && parseHttpDate(since) !== undefined;
}

/** Does not contain the current entity tag: a client must read the resource before it overwrites it. */
function preconditionRequired(): Problem {
  return new Problem(
    "PRECONDITION_REQUIRED",
    "This collection requires a precondition for changes. Read the resource, then send its ETag in If-Match.",
    {
      violations: [
        {
          in: "header",
          name: "If-Match",
          code: "required",
          detail: "send the ETag of the resource that you read",
        },
      ],
    },
  );
}

/** The problem of a precondition that is not met. It contains the current entity tag. */
function preconditionFailed(headers: IncomingHttpHeaders, current: Validators): Problem {
  const { etag, isPassing } = current;
  if (isPassing === true)
    return new Problem(
      "PRECONDITION_FAILED",
      "A precondition is not met: this list has no ETag, because its content changes as time passes. Leave out If-Match.",
    );
  const advice =
    misspelled(headers["if-match"], current) ??
    "Read the resource again, then decide whether to repeat the change.";
  return new Problem(
    "PRECONDITION_FAILED",
    `A precondition is not met: the current ETag is ${etag}. ${advice}`,
    { headers: { etag } },
  );
}

/** What is wrong with an If-Match that can never match; `undefined` if nothing is. */
function misspelled(ifMatch: string | undefined, current: Validators): string | undefined {
  if (ifMatch === undefined || ifMatch.trim() === "*") return undefined;
  if (!tagList.test(ifMatch)) return "If-Match must contain ETags in double quotes, or *.";
  if (!matches(ifMatch, current, isSameStateWeakly)) return undefined;
  return "If-Match never matches a weak ETag, which starts with W/. If a proxy has added W/, turn off its compression: the service itself compresses.";
}

/** The time of a change, rounded up to the second, so that a change later in the same second is never missed. */
export function lastModifiedMs(updatedAt: number): number {
  return Math.ceil(updatedAt / 1000) * 1000;
}

/** Whether the response can have Last-Modified: not while the rounded time is still in the future. */
export function isPublic(current: Validators, now: number): boolean {
  return current.lastModifiedMs !== undefined && current.lastModifiedMs <= now;
}

/** Unix time in milliseconds of a whole second as an HTTP date (RFC 9110 §5.6.7). */
export function httpDate(ms: number): string {
  const day = Math.floor(ms / dayMs);
  // Most dates are on few days, and formatting one takes longer than finding the resource.
  if (day !== lastDay.number) lastDay = { number: day, text: new Date(ms).toUTCString().slice(0, 17) };
  const seconds = ms / 1000 - day * 86_400;
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${lastDay.text}${withColon[hours]}${withColon[minutes]}${withZone[seconds % 60]}`;
}

const dayMs = 86_400_000;

const withColon = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, "0")}:`);
const withZone = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, "0")} GMT`);

let lastDay = { number: Number.NaN, text: "" };

const entityTag = /(W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
const tagList = new RegExp(`^[ \\t,]*${entityTag.source}(?:[ \\t]*,[ \\t,]*${entityTag.source})*[ \\t,]*$`);

/**
 * The entity tag of a 304: the first in If-None-Match that matches, so that the client knows which of its stored responses
 * it can use (RFC 9111 §4.3.4). Without one, the tag of the content without a coding.
 */
export function tagOfUnmodified(headers: IncomingHttpHeaders, current: Validators): string {
  const { etag } = current;
  const list = headers["if-none-match"];
  if (list === undefined || list === etag) return etag;
  const forms = formsFor(headers, current);
  const first = tagsIn(list).find((tag) => forms.some((form) => isSameTag(tag, form)));
  return forms.find((form) => first !== undefined && isSameTag(first, form)) ?? etag;
}

function formsFor(headers: IncomingHttpHeaders, { etag }: Validators): readonly string[] {
  return tagForms(etag, acceptedCodings(headers["accept-encoding"]));
}

function isFormFor(headers: IncomingHttpHeaders): IsMatch {
  const accepted = acceptedCodings(headers["accept-encoding"]);
  return (tag, { etag }) =>
    (tag === etag && accepted.plain) || tagForms(etag, accepted).some((form) => isSameTag(tag, form));
}

type IsMatch = (tag: string, current: Validators) => boolean;

function matches(list: string, current: Validators, isMatch: IsMatch): boolean {
  if (list.trim() === "*") return true;
  if (list === current.etag) return isMatch(list, current);
  return tagsIn(list).some((tag) => isMatch(tag, current));
}

/** A list that is not well-formed has no tags. */
function tagsIn(list: string): readonly string[] {
  return tagList.test(list) ? (list.match(entityTag) ?? []) : [];
}

/** Whether both are tags of one representation (RFC 9110 §8.8.3.2, weak comparison). */
function isSameTag(a: string, b: string): boolean {
  return withoutWeakness(a) === withoutWeakness(b);
}

/**
 * Whether a tag names the current state, by strong comparison. A write is meant for a state, not for a view of it, so only
 * the version counts.
 */
function isSameState(tag: string, current: Validators): boolean {
  return !tag.startsWith("W/") && !current.etag.startsWith("W/") && isSameStateWeakly(tag, current);
}

function isSameStateWeakly(tag: string, current: Validators): boolean {
  if (current.version === undefined) return isSameTag(tag, current.etag);
  return versionOf.exec(withoutWeakness(tag))?.[1] === String(current.version);
}

const versionOf = /^"([1-9][0-9]*)(?:-[\w-]+)?"$/;

/** `undefined` if the header is ignored: it is absent or not a date, or the time of the last change is not known. */
function isModifiedSince(header: string | undefined, { lastModifiedMs }: Validators): boolean | undefined {
  if (header === undefined || lastModifiedMs === undefined) return undefined;
  const since = parseHttpDate(header);
  return since === undefined ? undefined : lastModifiedMs > since;
}

const httpDateShapes = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

function parseHttpDate(value: string): number | undefined {
  if (!httpDateShapes.some((shape) => shape.test(value))) return undefined;
  const ms = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  // JavaScript reads 31 February as a day in March.
  return new Date(ms).getUTCDate() === Number(/\d+/.exec(value)?.[0]) ? ms : undefined;
}

/** Throws INVALID_PARAMETER if the request has a precondition. `detail` completes a sentence that begins with its name. */
export function requireNoPreconditions({ headers }: HttpRequest, detail: string): void {
  const names = ["If-Match", "If-None-Match", "If-Unmodified-Since"];
  const name = names.find((each) => headers[each.toLowerCase()] !== undefined);
  if (name === undefined) return;
  throw new Problem("INVALID_PARAMETER", `${name} ${detail}.`, {
    violations: [{ in: "header", name, code: "unknown", detail }],
  });
}
