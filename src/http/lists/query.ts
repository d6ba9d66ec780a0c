/** QUERY (RFC 10008): a list whose parameters are in the body instead of the URL. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../../json/parse.ts";
import { isObject } from "../../json/values.ts";
import { bodyAsksForFigures, parseFigures, parseFiguresBody } from "../../query/figures-request.ts";
import { type RequestedFilter, timelessText } from "../../query/filter.ts";
import { parseListBody } from "../../query/query-body.ts";
import { parseList } from "../../query/query-string.ts";
import type { ListScope } from "../../query/reading.ts";
import { pauseAfter } from "../admission/turns.ts";
import { inPast, viewsOf } from "../caller/permission.ts";
import type { FiguresRead, ListRead, Query } from "../operations/operation.ts";
import { listTypeFor } from "../protocol/accept.ts";
import { jsonLimits, readContent } from "../protocol/content.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Callers, Data, Surface } from "../service.ts";

/** Reads the list from the body. Throws the problems of the body and of its parameters, and NOT_ACCEPTABLE. */
export async function readListing(
  service: Data & Callers & Surface,
  operation: Query,
  request: HttpRequest,
): Promise<ListRead | FiguresRead> {
  const { collection, path, guard, caller, parent } = operation;
  const { limits } = service.settings;
  const { content, contentHash } = await readQuery(service, request);
  const common = { collection, path, guard, caller, parent, contentHash };
  const scope = { within: parent?.filter, viewOf: viewsOf(service, caller) };
  if (bodyAsksForFigures(content)) {
    const asked = parseFiguresBody(content, collection, limits.page, scope);
    const query = equivalentQuery(service, operation, { content, asked, scope, parse: parseFigures });
    return { kind: "figures", ...common, asked, query, type: listTypeFor(request, asked) };
  }
  const first = parseListBody(content, collection, limits.page, scope);
  const place = first.at === undefined ? operation : inPast(service, operation);
  const asked = place === operation ? first : parseListBody(content, place.collection, limits.page, scope);
  const query = equivalentQuery(service, place, { content, asked, scope, parse: parseList });
  const { collection: seen, guard: past } = place;
  return {
    kind: "list",
    ...common,
    collection: seen,
    guard: past,
    asked,
    query,
    type: listTypeFor(request, asked),
  };
}

/** The body of a QUERY, and a hash of it. Throws its problems. */
export async function readQuery(
  { settings: { limits } }: Surface,
  request: HttpRequest,
): Promise<{ content: unknown; contentHash: string }> {
  const bytes = await readContent(request, limits);
  const content = parseJson(bytes, jsonLimits(limits));
  await pauseAfter(bytes.length);
  return { content, contentHash: createHash("sha256").update(bytes).digest("base64url").slice(0, 8) };
}

/** The query string of the same list; `undefined` if it would be too long, or would be read as another list. */
export function equivalentQuery(
  { settings: { limits } }: Surface,
  { collection, path }: Pick<Query, "collection" | "path">,
  {
    content,
    asked,
    scope,
    parse,
  }: {
    content: unknown;
    asked: { filter?: RequestedFilter | undefined };
    scope: ListScope;
    parse: typeof parseList | typeof parseFigures;
  },
): string | undefined {
  const query = toQueryString(content);
  if (path.length + 1 + query.length > limits.targetBytes) return undefined;
  try {
    const read = parse(query, collection, limits.page, scope);
    return isDeepStrictEqual(withTimelessFilter(read), withTimelessFilter(asked)) ? query : undefined;
  } catch {
    return undefined;
  }
}

/** The filter was read at another time than that of the body. */
function withTimelessFilter({ filter, ...others }: { filter?: RequestedFilter | undefined }): object {
  return { ...others, filter: timelessText(filter) };
}

function toQueryString(content: unknown): string {
  if (!isObject(content)) return "";
  return Object.entries(content)
    .map(([name, value]) => `${name}=${encodeURIComponent(parameterText(name, value))}`)
    .join("&")
    .replaceAll("%2C", ",");
}

function parameterText(name: string, value: unknown): string {
  if (name === "filter") return JSON.stringify(value);
  return Array.isArray(value) ? value.join(",") : String(value);
}
