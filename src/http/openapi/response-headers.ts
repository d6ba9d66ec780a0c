/** The header fields of answers, as components. */
import { type Part, ref } from "./described.ts";

/** What each field tells. */
const fields = {
  "X-Request-Id": "Names the request in the service's log: the client's own, or one of the service's.",
  ETag: "The version of the resource, then a tag of the caller's view if some attributes are hidden, then the coding of compressed content; or the state of the list.",
  "Last-Modified": "The time of the last change, unless that is this very second.",
  Location: "The path of the resource; of a QUERY, the URL at which GET gives the same.",
  "Content-Location": "The path of the resource that the content is.",
  Link: "The first and the next page, and others where they are known (RFC 8288).",
  "X-Total-Count": "How many resources the whole list has, where that is known.",
  "Content-Range": "The place of the page in the list, where that is known: `topics 0-99/319`.",
  "Page-Limit":
    "The number of resources (or changes) that this page can have at most. A larger number in the request is lowered to the limit of the service.",
  "Accept-Query": "The media type of what QUERY takes.",
  "Accept-Patch": "The media types of what PATCH takes.",
  Accept: "The media types that the method takes.",
  "Accept-Encoding": "The codings that content may have: none.",
  Allow: "The methods that the path has.",
  "Preference-Applied": "What was heeded of Prefer.",
  "Idempotent-Replayed":
    "`true` where this is the answer to an earlier request with the same Idempotency-Key.",
  "WWW-Authenticate": "What is wrong with the credential, or that one is needed (RFC 6750).",
  "Retry-After": "In so many seconds it is worth trying again.",
  "RateLimit-Policy": "How many requests are taken in how many seconds.",
  RateLimit: "How many of them are left, and in how many seconds all are there again.",
} as const;

/** The name of a header field of answers. */
export type AnswerField = keyof typeof fields;

/** Fields that every answer has. */
export function commonFields(hasRate: boolean): readonly AnswerField[] {
  return hasRate ? ["X-Request-Id", "RateLimit-Policy", "RateLimit"] : ["X-Request-Id"];
}

/** The fields as components: once where they may be there, and once where they are. */
export function headerParts(): Record<string, Part> {
  const schema = { type: "string" };
  const all = Object.entries(fields).flatMap(([name, description]) => [
    [name, { description, schema }] as const,
    [`${name}-Required`, { description, required: true, schema }] as const,
  ]);
  return Object.fromEntries(all);
}

/** The `headers` of a response: those that must be there, and those that may. */
export function headersOf(
  must: readonly AnswerField[],
  may: readonly AnswerField[] = [],
): Record<string, Part> {
  return Object.fromEntries([
    ...must.map((name) => [name, ref("headers", `${name}-Required`)] as const),
    ...may.map((name) => [name, ref("headers", name)] as const),
  ]);
}
