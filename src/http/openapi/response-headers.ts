/** The headers of responses, as components. */
import { type Part, ref } from "./described.ts";

/** The description of each header. */
const descriptions = {
  "X-Request-Id": "The id of the request in the service's log. A client can send its own.",
  ETag: "The version of the resource or the state of the list. If attributes are hidden, it also depends on the caller. If the response is compressed, it also depends on the coding. A list that changes as time passes does not have it.",
  "Last-Modified": "The time of the last change. It is left out during the second of the change.",
  Location:
    "The path of the resource. After QUERY, a URL with which GET returns the same list. With 303, where the browser goes.",
  "Content-Location": "The path of the resource in the body.",
  Link: "The first and the next page, and others if they are known (RFC 8288). In a list, `monitor` is the feed of the events after the page (RFC 5989). A filter by id and a search have no feed.",
  "X-Total-Count": "The number of resources in the whole list, or of all groups of figures, if known.",
  "Content-Range": "The position of the page in the list, if known: `topics 0-99/319`.",
  "Page-Limit": "The number of resources (or changes, events or groups) that this page can have at most.",
  "Accept-Query": "The media type that QUERY accepts.",
  "Accept-Patch": "The media types that PATCH accepts.",
  Accept: "The media types that the method accepts.",
  "Accept-Encoding": "The content codings that request bodies can have: only `identity`.",
  Allow: "The methods that the path supports.",
  "Preference-Applied": "The preference that the service applied.",
  "Idempotent-Replayed":
    "`true` if this is the stored response to an earlier request with the same Idempotency-Key.",
  "Holdfast-Hint":
    'If no collection has the name in the path, and another name is similar: `did you mean "topics"?`. If the collection has no such relation, it says how to declare one. It names only collections that the caller can list.',
  "WWW-Authenticate": "Says that a credential is needed, or what is wrong with it (RFC 6750).",
  "Retry-After": "Try again after this many seconds.",
  "Set-Cookie": "The cookies of the session and of the device, if the request asks for them.",
  "Clear-Site-Data": "The browser forgets the responses that it has stored.",
  "RateLimit-Policy": "The quota: requests per number of seconds.",
  RateLimit: "The remaining quota, and the seconds until it is full again.",
} as const;

/** The name of a header of responses. */
export type ResponseHeader = keyof typeof descriptions;

/** The headers of every response. */
export function commonHeaders(hasRate: boolean): readonly ResponseHeader[] {
  return hasRate ? ["X-Request-Id", "RateLimit-Policy", "RateLimit"] : ["X-Request-Id"];
}

/** The headers as components: each once as optional, and once as required. */
export function headerParts(): Record<string, Part> {
  const schema = { type: "string" };
  const all = Object.entries(descriptions).flatMap(([name, description]) => [
    [name, { description, schema }] as const,
    [`${name}-Required`, { description, required: true, schema }] as const,
  ]);
  return Object.fromEntries(all);
}

/** The `headers` of a response: `must` are always in it, and `may` can be in it. */
export function headersOf(
  must: readonly ResponseHeader[],
  may: readonly ResponseHeader[] = [],
): Record<string, Part> {
  return Object.fromEntries([
    ...must.map((name) => [name, ref("headers", `${name}-Required`)] as const),
    ...may.map((name) => [name, ref("headers", name)] as const),
  ]);
}
