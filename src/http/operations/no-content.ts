/** Checks requests that have no body. */
import { Problem } from "../../errors.ts";
import { hasContent } from "../protocol/content.ts";
import type { HttpRequest } from "../protocol/message.ts";

/** Throws INVALID_PARAMETER if a request without a body has one. */
export function requireNoContent(request: HttpRequest): void {
  if (!hasContent(request) || request.headers["content-length"] === "0") return;
  throw new Problem("INVALID_PARAMETER", "This path takes no body. Send the request without one.");
}
