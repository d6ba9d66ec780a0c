/** Who gets a page where a program gets an empty 404. */
import type { HttpRequest } from "../message.ts";
import { namesHtml } from "../negotiation/accept.ts";
import type { Service } from "../service.ts";

/** Whether the answer may be a page: a browser asks, and no other application has the paths outside the prefix. */
export function mayHavePage({ isEmbedded }: Service, request: HttpRequest): boolean {
  const { method } = request;
  return !isEmbedded && (method === "GET" || method === "HEAD") && namesHtml(request);
}
