/** Reads the parameters of the paths below a webhook. */
import { Problem } from "../../errors.ts";
import { inQuery, Violations } from "../../query/violations.ts";
import { hasContent } from "../protocol/content.ts";
import type { HttpRequest } from "../protocol/message.ts";

const limits = { usual: 100, most: 1_000 };

/** The parameter `limit` of the list of deliveries. Throws INVALID_PARAMETER. */
export function parseLimit(query: string): number {
  const faults = new Violations();
  let limit = limits.usual;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== "limit") faults.add(inQuery(name), "unknownParameter", "is not understood here");
    else if (/^[0-9]{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= limits.most)
      limit = Number(value);
    else faults.add(inQuery(name), "limit", `must be a whole number from 1 to ${limits.most}`);
  }
  faults.throwIfAny();
  return limit;
}

/** Throws INVALID_PARAMETER if a request without a body has one. */
export function requireNoContent(request: HttpRequest): void {
  if (!hasContent(request) || request.headers["content-length"] === "0") return;
  throw new Problem("INVALID_PARAMETER", "This path takes no body. Send the request without one.");
}
