/** The result of one operation of a batch, as text. */

import type { Result } from "../operations/result.ts";
import { type HttpRequest, textOf } from "../protocol/message.ts";
import { respond } from "../respond.ts";
import type { Service } from "../service.ts";

/** Headers of the whole response, not of one result. */
const ofTheWhole = new Set(["content-type", "content-length", "cache-control"]);

/** Status, headers and body of the response that the operation would get if it were sent alone, as a JSON object. */
export function resultText(service: Service, result: Result, request: HttpRequest): string {
  const response = respond(service, result, request);
  const { status, headers } = response;
  const body = textOf(response);
  const own = Object.entries(headers).filter(([name]) => !ofTheWhole.has(name));
  const shown = JSON.stringify(Object.fromEntries(own.map(([name, value]) => [shownName(name), value])));
  const end = body === undefined ? "}" : `,"body":${body}}`;
  return `{"status":${status},"headers":${shown}${end}`;
}

function shownName(name: string): string {
  return name === "etag" ? "ETag" : name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
