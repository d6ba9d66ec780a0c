/**
 * Safe retries: of all requests with the same Idempotency-Key, one takes effect, and the others get its response.
 *
 * The response to a write is made before the commit and stored in the same transaction, so a crash cannot separate the
 * two. Only successes are stored: a request that failed had no effect, and can run again with the same key.
 */
import { hash } from "node:crypto";
import { networkOf } from "../../access/networks.ts";
import { Problem } from "../../errors.ts";
import type { KeptReceipt, Receipt } from "../../store/port/commit.ts";
import type { Caller } from "../caller/admit.ts";
import type { Idempotency } from "../operations/operation.ts";
import type { Asked, Result } from "../operations/result.ts";
import { type HttpRequest, type HttpResponse, textOf } from "../protocol/message.ts";
import { splitTarget } from "../protocol/target.ts";
import type { Callers, Clock, Data, Surface } from "../service.ts";

const headerName = "Idempotency-Key";

const validMs = 24 * 60 * 60 * 1_000;

/**
 * The result of a keyed operation: the stored response, or the result of `perform`. Throws IDEMPOTENCY_KEY_INVALID,
 * IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, the problems of receiving the content, and what `perform` throws.
 */
export async function performOnce(
  service: Data & Callers & Surface & Clock,
  asked: Asked,
  perform: (asked: Asked) => Result | Promise<Result>,
): Promise<Result> {
  const { caller, request } = asked;
  const key = scopedKey(request, caller, parseKey(String(request.headers["idempotency-key"])));
  const shownTo = audienceOf(service, request, caller); // before the connection can close, which loses the address
  const content = await request.content.receive(service.settings.limits.bodyBytes);
  const fingerprint = hash("sha256", Buffer.concat([typeOf(request), content]), "base64url");
  const { keysInProgress } = service;
  const idempotency: Idempotency = { key, fingerprint, shownTo };
  const shared = keysInProgress.get(key);
  if (shared !== undefined) {
    const receipt = await shared;
    if (receipt === undefined) throw inProgress();
    return responseFrom(receipt, idempotency);
  }
  const stored = service.store.receipt(key, service.now());
  keysInProgress.set(key, stored);
  try {
    const receipt = await stored;
    if (receipt !== undefined) return responseFrom(receipt, idempotency);
    return await performOrRepeat(service, idempotency, () => perform({ ...asked, idempotency }));
  } finally {
    // A commit can take longer than its request. Until it ends, the key is in use.
    const release = () => keysInProgress.delete(key);
    if (idempotency.commit === undefined) release();
    else idempotency.commit.then(release, release);
  }
}

/**
 * The result of `perform`. Another thread or instance may carry out the same request at the same time. `perform` then finds what
 * the other has changed, and a precondition fails, for example. The result is then the response to the other.
 */
async function performOrRepeat(
  service: Data & Clock,
  idempotency: Idempotency,
  perform: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    const result = await perform();
    return result.kind !== "not found" ? result : ((await storedResponse(service, idempotency)) ?? result);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const stored = await storedResponse(service, idempotency);
    if (stored !== undefined) return stored;
    throw isKeyTaken(error, idempotency) ? inProgress() : error; // its stored response has expired in the meantime
  }
}

/** Whether the store refused the commit because it has a response for the key already. */
function isKeyTaken(error: unknown, { commit }: Idempotency): boolean {
  return commit !== undefined && error instanceof Problem && error.code === "IDEMPOTENCY_KEY_REUSED";
}

/** What a commit stores so that a retry gets the same response. */
export function receiptFor(
  service: Clock,
  { key, fingerprint, shownTo }: Idempotency,
  response: HttpResponse,
): Receipt {
  const brief = String(response.headers.location ?? "");
  const answer = JSON.stringify({ ...response, body: textOf(response), shownTo });
  return { key, fingerprint, answer, brief, expiresAt: service.now() + validMs };
}

async function storedResponse(service: Data & Clock, idempotency: Idempotency): Promise<Result | undefined> {
  const receipt = await service.store.receipt(idempotency.key, service.now());
  return receipt && responseFrom(receipt, idempotency);
}

/** The stored response. Throws IDEMPOTENCY_KEY_REUSED and ANSWER_NOT_KEPT. */
function responseFrom(receipt: KeptReceipt, { fingerprint, shownTo }: Idempotency): Result {
  if (receipt.fingerprint !== fingerprint && receipt.fingerprint !== "") throw reused();
  if (receipt.answer === undefined) throw responseNotStored(receipt);
  const { shownTo: first, ...answer } = JSON.parse(receipt.answer) as HttpResponse & { shownTo: string };
  const { status, headers, body } = first === shownTo ? answer : withoutBody(answer);
  const response = { status, headers: { ...headers, "idempotent-replayed": "true" }, body };
  return { kind: "response", response };
}

/**
 * A tag for the callers who can see the body of a stored response: one principal while its rights stay the same, or all
 * callers without a credential at one address.
 */
function audienceOf({ access, tags }: Callers, { client }: HttpRequest, { principal }: Caller): string {
  const rights = access?.rights(principal) ?? null;
  return tags.audience(rights, principal === undefined ? networkOf(client.ip) : null);
}

/** The response without its body: it states only that the request took effect, and where. */
export function withoutBody({ status, headers }: HttpResponse): HttpResponse {
  const { "content-type": _, "content-location": __, "content-length": ___, ...others } = headers;
  if (status !== 201) return { status: status === 200 ? 204 : status, headers: others, body: undefined };
  return { status, headers: { ...others, "content-length": "0" }, body: undefined };
}

/** The key together with principal, method, path and unique key. With another of these, it is a different key. */
function scopedKey({ method, target }: HttpRequest, { principal }: Caller, key: string): string {
  const place = canonicalPath(target) + (method === "POST" ? "" : canonicalQuery(target));
  return JSON.stringify([shortSubject(principal?.subject), method, place, key]);
}

/** Stores have an index on these keys, and not every index can take the longest subjects of tokens. */
const maxSubject = 256;

/** Different for different subjects: a digest is in an array, and a subject is not. */
function shortSubject(subject: string | undefined): string | readonly string[] | null {
  if (subject === undefined) return null;
  return subject.length <= maxSubject ? subject : [hash("sha256", subject, "base64url")];
}

/** The canonical form of a path, which is the same for all its spellings. */
function canonicalPath(target: string): string {
  const segments = splitTarget(target).path.split("/");
  if (segments.at(-1) === "") segments.pop();
  return segments.map((segment) => encodeURIComponent(decodeURIComponent(segment))).join("/");
}

/** The canonical form of a unique key; empty without one. */
function canonicalQuery(target: string): string {
  const { query } = splitTarget(target);
  if (query === "") return "";
  const names = new URLSearchParams(query);
  names.sort();
  return `?${names}`;
}

function typeOf({ headers }: HttpRequest): Buffer {
  return Buffer.from(`${headers["content-type"] ?? ""}\n`, "latin1");
}

/** A String of RFC 9651 §3.3.3. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const bare = /^[\x21\x23-\x7e][\x21-\x7e]*$/;
const maxLength = 255;

function parseKey(value: string): string {
  const key = quoted.exec(value)?.[1]?.replace(/\\(.)/g, "$1") ?? (bare.test(value) ? value : "");
  if (key.length > 0 && key.length <= maxLength) return key;
  const detail = `must be 1 to ${maxLength} visible ASCII characters, bare or as a quoted string`;
  throw new Problem("IDEMPOTENCY_KEY_INVALID", `The ${headerName} ${detail}.`, {
    violations: [{ in: "header", name: headerName, code: "format", detail }],
  });
}

function inProgress(): Problem {
  return new Problem(
    "IDEMPOTENCY_IN_PROGRESS",
    `The first request with this ${headerName} is still in progress. Try again to get its response.`,
    { headers: { "retry-after": "1" } },
  );
}

function responseNotStored({ brief = "" }: KeptReceipt): Problem {
  const place = brief === "" ? "" : ` It created ${brief}.`;
  return new Problem(
    "ANSWER_NOT_KEPT",
    `The first request with this ${headerName} took effect, but its response is no longer stored.${place}`,
    brief === "" ? {} : { headers: { location: brief } },
  );
}

function reused(): Problem {
  return new Problem(
    "IDEMPOTENCY_KEY_REUSED",
    `The ${headerName} was already used for a request with a different body or Content-Type. Use a new key for each request.`,
  );
}
