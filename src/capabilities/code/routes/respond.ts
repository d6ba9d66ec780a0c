/** What a route returns to decide about its response. */
import { plainCopy, WrongResult } from "../plain-values.ts";

/** A response that a route has made, as data. */
export interface RouteResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Marks what `respond` returns. Several copies of this file can be loaded, so a class would not do. */
const responded: unique symbol = Symbol.for("holdfast.response");

/** What `respond` returns. */
export interface Responded {
  readonly [responded]: { readonly status: number; readonly body: unknown; readonly headers: object };
}

/**
 * The response of a route, for `run` to return. Without it, a route responds with 200 and what it returns as JSON. `status`: from 200 to 499.
 * A text or bytes are sent as they are, with the `content-type` in `headers`; any other body is sent as JSON.
 */
export function respond(
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Responded {
  return { [responded]: { status, body, headers } };
}

/** The data of a value that `respond` has made; `undefined` if it is any other value. Throws WrongResult. */
export function responseOf(value: unknown): RouteResponse | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, responded)) return undefined;
  const given = (value as Responded)[responded];
  const headers = Object.fromEntries(
    Object.entries(given.headers).map(([name, text]) => [name.toLowerCase(), String(text)]),
  );
  const { status, body } = given;
  if (typeof status !== "number")
    throw new WrongResult("respond: the status must be a whole number from 200 to 499.");
  if (typeof body === "string" || body === undefined) return { status, headers, body };
  if (body instanceof Uint8Array) return { status, headers, body: Uint8Array.from(body) };
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(plainCopy(body, "The body of the response")),
  };
}
