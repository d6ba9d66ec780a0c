/** The response to a list of changes. */
import { formatCursor } from "../../query/cursor.ts";
import { type HttpRequest, type HttpResponse, jsonType, revalidate, withBody } from "../message.ts";
import type { ChangesResult, ShownChange } from "../result.ts";
import { resourcePath } from "../route.ts";
import { nameOfChanges } from "./request.ts";

/** A page of changes as a response. */
export function changesResponse(
  { operation, changes, more }: ChangesResult,
  request: HttpRequest,
): HttpResponse {
  const { asked, collection, path, id } = operation;
  const target = `${resourcePath(path, id)}/_changes`;
  const limit = asked.hasLimit ? [`limit=${asked.limit}`] : [];
  const first = limit.length === 0 ? target : `${target}?${limit.join("&")}`;
  const links = [`<${first}>; rel="first"`];
  const last = changes.at(-1);
  if (more && last !== undefined) {
    const cursor = formatCursor(nameOfChanges({ collection: collection.name, id }), [last.version]);
    links.unshift(`<${target}?${[...limit, `cursor=${cursor}`].join("&")}>; rel="next"`);
  }
  const headers = {
    "content-type": jsonType,
    "cache-control": revalidate,
    link: links.join(", "),
    "page-limit": String(asked.limit),
  };
  return withBody(request, JSON.stringify(changes.map(toJson)), { status: 200, headers });
}

/** Changes that were made together have the same `group`. */
function toJson({ version, kind, at, principal, group }: ShownChange): Record<string, unknown> {
  return { version, kind, at: new Date(at).toISOString(), principal, group };
}
