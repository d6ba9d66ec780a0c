/**
 * Safe retries: of all requests with one Idempotency-Key one takes effect, and the others get its answer.
 *
 * The answer of a write is made before the commit and kept in the same transaction, so that no crash can part the
 * two. Only successes are kept: what failed had no effect and may run again under the same key.
 */
import { hash } from "node:crypto";
import { Problem } from "../errors.ts";
import type { KeptReceipt, Receipt } from "../store/commit.ts";
import { addressKey } from "./caller/quota.ts";
import { receiveContent } from "./content.ts";
import { type HttpRequest, type HttpResponse, textOf } from "./message.ts";
import type { Operation } from "./operation.ts";
import { respond } from "./respond.ts";
import type { Result } from "./result.ts";
import { splitTarget } from "./route.ts";
import type { Service } from "./service.ts";

const name = "Idempotency-Key";

const validMs = 24 * 60 * 60 * 1_000;

/** Whether the request asks to take effect once, by a header field that its method heeds. */
export function isKeyed({ method, headers }: HttpRequest, { kind }: Operation): boolean {
  if (headers["idempotency-key"] === undefined || kind === "nothing") return false;
  return method === "POST" || method === "PATCH";
}

/**
 * The answer to a keyed request: the one that was kept under its key, or what `answer` makes. Throws
 * IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, the problems of receiving the content,
 * and what `answer` throws.
 */
export async function answerOnce(
  service: Service,
  request: HttpRequest,
  answer: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const key = scopedKey(request, parseKey(String(request.headers["idempotency-key"])));
  const shownTo = audienceOf(service, request); // once its connection is closed, a request has no address
  const content = await receiveContent(request, service.settings.limits.bodyBytes);
  const fingerprint = hash("sha256", Buffer.concat([typeOf(request), content]), "base64url");
  const { keysUnderWay } = service;
  if (keysUnderWay.has(key)) throw inProgress();
  keysUnderWay.add(key);
  const keyed: NonNullable<HttpRequest["keyed"]> = { key, fingerprint, shownTo };
  try {
    const kept = await replay(service, keyed);
    if (kept !== undefined) return kept;
    request.keyed = keyed;
    return await orReplay(service, request, answer);
  } finally {
    // A commit may outlive its request's patience, and nobody knows before its end whether the key is free again.
    const free = () => keysUnderWay.delete(key);
    if (keyed.commit === undefined) free();
    else keyed.commit.then(free, free);
  }
}

/** What a commit must keep so that a retry gets this result; `undefined` where the client sent no key. */
export function receiptFor(service: Service, request: HttpRequest, result: Result): Receipt | undefined {
  if (request.keyed === undefined) return undefined;
  const { key, fingerprint, shownTo } = request.keyed;
  const response = respond(service, result, request);
  const brief = String(response.headers.location ?? "");
  const answer = JSON.stringify({ ...response, body: textOf(response), shownTo });
  return { key, fingerprint, answer, brief, expiresAt: service.now() + validMs };
}

/** Another instance may have answered the same request since this one looked. */
async function orReplay(
  service: Service,
  request: HttpRequest,
  answer: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await answer();
  } catch (error) {
    const { keyed } = request;
    if (!(error instanceof Problem) || error.code !== "IDEMPOTENCY_KEY_REUSED" || keyed === undefined)
      throw error;
    const kept = await replay(service, keyed);
    if (kept === undefined) throw inProgress(); // it has expired meanwhile
    return kept;
  }
}

async function replay(
  service: Service,
  { key, fingerprint, shownTo }: NonNullable<HttpRequest["keyed"]>,
): Promise<HttpResponse | undefined> {
  const receipt = await service.store.receipt(key, service.now());
  if (receipt === undefined) return undefined;
  if (receipt.fingerprint !== fingerprint && receipt.fingerprint !== "") throw reused();
  if (receipt.answer === undefined) throw notKept(receipt);
  const { shownTo: first, ...answer } = JSON.parse(receipt.answer) as HttpResponse & { shownTo: string };
  const { status, headers, body } = first === shownTo ? answer : withoutContent(answer);
  return { status, headers: { ...headers, "idempotent-replayed": "true" }, body };
}

/**
 * A tag for the callers who may see the content of an answer: one principal while its rights stay the same, or all callers
 * without a credential at one address.
 */
function audienceOf({ access, tags }: Service, { principal, client }: HttpRequest): string {
  const rights = access?.rights(principal) ?? null;
  return tags.audience(rights, principal === undefined ? addressKey(client.ip) : null);
}

/** That it took effect, and where; nothing of what it was. */
function withoutContent({ status, headers }: HttpResponse): HttpResponse {
  const { "content-type": _, "content-location": __, "content-length": ___, ...others } = headers;
  if (status !== 201) return { status: status === 200 ? 204 : status, headers: others, body: undefined };
  return { status, headers: { ...others, "content-length": "0" }, body: undefined };
}

/** Keys of different principals, methods and paths have nothing to do with each other. */
function scopedKey({ method, target, principal }: HttpRequest, key: string): string {
  return JSON.stringify([shortSubject(principal?.subject), method, canonicalPath(target), key]);
}

/** Stores look receipts up by their keys, and not every index takes the longest texts that tokens have room for. */
const maxSubject = 256;

/** No two subjects are the same in it: a digest stands in an array, where no subject does. */
function shortSubject(subject: string | undefined): string | readonly string[] | null {
  if (subject === undefined) return null;
  return subject.length <= maxSubject ? subject : [hash("sha256", subject, "base64url")];
}

/** One spelling for what is one address, whatever was escaped. */
function canonicalPath(target: string): string {
  const segments = splitTarget(target).path.split("/");
  if (segments.at(-1) === "") segments.pop();
  return segments.map((segment) => encodeURIComponent(decodeURIComponent(segment))).join("/");
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
  throw new Problem("IDEMPOTENCY_KEY_INVALID", `The ${name} ${detail}.`, {
    violations: [{ in: "header", name, code: "format", detail }],
  });
}

function inProgress(): Problem {
  return new Problem(
    "IDEMPOTENCY_IN_PROGRESS",
    `The first request with this ${name} is still in progress. Try again to get its response.`,
    { headers: { "retry-after": "1" } },
  );
}

function notKept({ brief = "" }: KeptReceipt): Problem {
  const place = brief === "" ? "" : ` It created ${brief}.`;
  return new Problem(
    "ANSWER_NOT_KEPT",
    `The first request with this ${name} took effect, but its response is no longer stored.${place}`,
    brief === "" ? {} : { headers: { location: brief } },
  );
}

function reused(): Problem {
  return new Problem(
    "IDEMPOTENCY_KEY_REUSED",
    `The ${name} was already used for a request with a different body or Content-Type. Use a new key for each request.`,
  );
}
