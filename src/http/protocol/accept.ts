/** Decides the format of a response by Accept. It knows media types only, and does not make content. */
import { Problem } from "../../errors.ts";
import type { ListRequest } from "../../query/list-request.ts";
import { inBody, inQuery, Violations } from "../../query/violations.ts";
import { acceptsJson, namesType, preferredType } from "./media-types.ts";
import { type HttpRequest, jsonType } from "./message.ts";

/** The media types of lists, with the Content-Type of each. The first one is used if a client prefers none of them. */
const listContentTypes = {
  "application/json": jsonType,
  "application/x-ndjson": "application/x-ndjson; charset=utf-8",
  "text/csv": "text/csv; charset=utf-8; header=present",
} as const;

/** The media type of a list. */
export type ListType = keyof typeof listContentTypes;

/** All media types of lists. */
export const listTypes = Object.keys(listContentTypes) as readonly ListType[];

/** The media types of a feed, with the Content-Type of each. */
const feedContentTypes = {
  "application/cloudevents-batch+json": "application/cloudevents-batch+json; charset=utf-8",
  "application/json": jsonType,
  "text/event-stream": "text/event-stream; charset=utf-8",
} as const;

/** The media type of a feed. `text/event-stream` is a stream, and the others are pages. */
export type FeedType = keyof typeof feedContentTypes;

/** All media types of feeds. */
const feedTypes = Object.keys(feedContentTypes) as readonly FeedType[];

const jsonOnly = ["application/json"] as const;

/** Throws NOT_ACCEPTABLE if Accept excludes JSON, the only format of a resource. */
export function requireJsonAcceptable({ headers }: HttpRequest): void {
  if (!acceptsJson(headers.accept)) throw notAcceptable(headers.accept, jsonOnly);
}

/** Throws NOT_ACCEPTABLE if Accept excludes every format of a list. */
export function requireListAcceptable({ headers }: HttpRequest): void {
  requireType(headers.accept, listTypes);
}

/**
 * The format that the client prefers. An envelope is always JSON. Throws NOT_ACCEPTABLE if Accept excludes all formats, and
 * INVALID_PARAMETER if a table would contain other resources, or if `bom` or `delimiter` is sent and the format is no table.
 */
export function listTypeFor(
  { headers, method }: HttpRequest,
  {
    table,
    envelope = false,
    embeds = [],
  }: Pick<ListRequest, "table"> & Partial<Pick<ListRequest, "envelope" | "embeds">>,
): ListType {
  const type = requireType(headers.accept, envelope ? jsonOnly : listTypes);
  const violations = new Violations();
  const locationOf = method === "QUERY" ? inBody : inQuery;
  if (type === "text/csv" && embeds.length > 0)
    violations.add(
      locationOf("embed"),
      "embed",
      "cannot be used with CSV, whose lines are single resources. Accept application/json",
    );
  if (type !== "text/csv")
    for (const name of ["bom", "delimiter"] as const)
      if (table[name] !== undefined) violations.add(locationOf(name), "csv", onlyCsv(envelope));
  violations.throwIfAny();
  return type;
}

function onlyCsv(isEnvelope: boolean): string {
  return isEnvelope
    ? 'applies only to CSV, and an envelope is JSON. Leave out "envelope", and send "Accept: text/csv"'
    : 'applies only to CSV. Send "Accept: text/csv"';
}

/** The Content-Type of a list. */
export function contentTypeOf(type: ListType): string {
  return listContentTypes[type];
}

/** Whether Accept names `text/html`, as in the requests of browsers. A range that includes it does not count. */
export function namesHtml({ headers }: HttpRequest): boolean {
  return namesType(headers.accept, "text/html");
}

/** Whether Accept names HTML and prefers it to JSON. */
export function prefersHtml(request: HttpRequest): boolean {
  const types = ["application/json", "text/html"] as const;
  return namesHtml(request) && preferredType(request.headers.accept, types) === "text/html";
}

/** The format of a feed that the client prefers. Throws NOT_ACCEPTABLE if Accept excludes all formats. */
export function feedTypeFor({ headers }: HttpRequest): FeedType {
  return requireType(headers.accept, feedTypes);
}

/** The Content-Type of a feed. */
export function feedContentTypeOf(type: FeedType): string {
  return feedContentTypes[type];
}

function requireType<Type extends string>(accept: string | undefined, types: readonly Type[]): Type {
  const type = preferredType(accept, types);
  if (type === undefined) throw notAcceptable(accept, types);
  return type;
}

function notAcceptable(accept: string | undefined, types: readonly string[]): Problem {
  return new Problem(
    "NOT_ACCEPTABLE",
    `The Accept header "${accept}" excludes every available format: ${types.join(", ")}.`,
  );
}
