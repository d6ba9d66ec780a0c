/** Decides which requests get a page; others get an empty 404. */
import type { HttpRequest } from "../message.ts";
import { namesHtml } from "../negotiation/accept.ts";
import type { Service } from "../service.ts";

/** Whether the answer may be a page: the client is a browser, and the service is not part of another application. */
export function mayHavePage({ isEmbedded }: Service, request: HttpRequest): boolean {
  const { method } = request;
  return !isEmbedded && (method === "GET" || method === "HEAD") && namesHtml(request);
}
