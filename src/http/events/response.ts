/** The responses of feeds. */
import type { Result } from "../operations/result.ts";
import { feedContentTypeOf } from "../protocol/accept.ts";
import { type HttpRequest, type HttpResponse, withBody } from "../protocol/message.ts";

/** A page of events. It always has a link to the next page. */
export function eventsResponse(
  { subscription, events, next }: Result & { kind: "events" },
  request: HttpRequest,
): HttpResponse {
  const { target, type, asked } = subscription;
  const headers = {
    "content-type": feedContentTypeOf(type),
    "cache-control": "no-store",
    "page-limit": String(asked.limit),
    link: `<${target.path}?${[...target.query, `since=${next}`].join("&")}>; rel="next"`,
  };
  return withBody(request, `[${events.join(",")}]`, { status: 200, headers });
}

/** A stream of events. Proxies must not change or collect it. */
export function streamResponse({ body }: Result & { kind: "event stream" }): HttpResponse {
  const headers = {
    "content-type": feedContentTypeOf("text/event-stream"),
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  };
  return { status: 200, headers, body };
}
