/**
 * The content of requests in an application of Fastify, whose hooks run before the service. They see the content as
 * `request.body`, and the service takes what they leave there.
 */
import type { IncomingMessage } from "node:http";
import { Problem } from "../../errors.ts";
import { parseJson } from "../../json/parse.ts";
import { pauseAfter } from "../admission/turns.ts";
import { contentOf, contentTooLarge, jsonLimits } from "../protocol/content.ts";
import type { Content } from "../protocol/message.ts";
import type { Limits } from "../settings.ts";

/** A request as the framework gives it to hooks. */
export interface HookedRequest {
  readonly raw: IncomingMessage;
  readonly params: unknown;
  body: unknown;
}

/** The content of one request: received before the hooks that see it, and taken by the service after them. */
export class HookedContent {
  readonly #request: HookedRequest;
  readonly #content: Content;
  readonly #limits: Limits;
  /** What the hooks got. */
  #given: unknown;
  /** The text of `#given`, if it is the JSON of the content. */
  #text: string | undefined;

  constructor(request: HookedRequest, content: Content, limits: Limits) {
    this.#request = request;
    this.#content = content;
    this.#limits = limits;
  }

  /**
   * The value that the hooks get: the JSON of the content, or `undefined` without content. If the service refuses the content,
   * or reads it as a stream, the value throws when a hook looks into it: no hook mistakes such content for an empty one.
   */
  async receive(): Promise<unknown> {
    this.#given = await this.#parse().catch((error: unknown) => {
      if (error instanceof Problem) return unreadable(error.message, error);
      throw error;
    });
    return this.#given;
  }

  async #parse(): Promise<unknown> {
    const { bodyBytes } = this.#limits;
    if (isImport(this.#request)) return unreadable(importAdvice, { code: "HOLDFAST_IMPORT", status: 500 });
    if (isTooLarge(this.#request, this.#limits)) throw contentTooLarge(bodyBytes);
    const bytes = await this.#content.receive(bodyBytes);
    if (bytes.length === 0) return undefined;
    const value = parseJson(bytes, jsonLimits(this.#limits));
    await pauseAfter(bytes.length);
    this.#text = JSON.stringify(value);
    return value;
  }

  /** The content for the service, after all hooks. Throws an error that says which mistake a hook has made. */
  take(): Content {
    const { body, raw } = this.#request;
    const isSame = body === this.#given && (this.#text === undefined || JSON.stringify(body) === this.#text);
    if (isSame && isImport(this.#request) && raw.readableDidRead) throw new Error(importAdvice);
    return isSame ? this.#content : contentFrom(body, this.#limits);
  }
}

/** The content that a hook has put in place of the one that was sent. Throws an error if it is not JSON. */
export function contentFrom(body: unknown, { bodyBytes }: Limits): Content {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body, requireJson));
  return {
    ...contentOf(bytes),
    receive: async (maxBytes) => {
      if (bytes.length > maxBytes) throw contentTooLarge(bodyBytes);
      return bytes;
    },
  };
}

/** For `JSON.stringify`, which would replace these values by others, or leave them out. */
function requireJson(this: object, name: string, value: unknown): unknown {
  const original: unknown = (this as Record<string, unknown>)[name];
  if (isJson(original) || (original === undefined && !Array.isArray(this))) return value;
  const what = typeof original === "object" ? `a ${original?.constructor?.name}` : String(original);
  throw new TypeError(
    `A hook has put ${what} into request.body${name === "" ? "" : `, as "${name}"`}. Put a value there that JSON has, such as a string.`,
  );
}

function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null)
    return value === null || typeof value === "string" || typeof value === "boolean";
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

/** A value that throws an error when a hook looks into it. Fastify answers with the status of the error. */
function unreadable(message: string, { code, status }: { code: string; status: number }): object {
  const refuse = () => {
    throw Object.assign(new Error(message), { code, statusCode: status });
  };
  return new Proxy(
    {},
    {
      get: (_target, name) => (name === "then" ? undefined : refuse()), // a promise of it asks for this
      set: refuse,
      has: refuse,
      deleteProperty: refuse,
      ownKeys: refuse,
      getOwnPropertyDescriptor: refuse,
      defineProperty: refuse,
    },
  );
}

const importAdvice =
  "A hook cannot read the body of an import, because the service reads it as a stream. Let the hook decide by the path, which ends with /_import.";

/** Whether the service refuses the content without reading it, because of its stated length. */
export function isTooLarge(request: HookedRequest, { bodyBytes }: Limits): boolean {
  const length = Number(request.raw.headers["content-length"]); // NaN if it is unknown
  return length > bodyBytes && !isImport(request);
}

function isImport({ params }: HookedRequest): boolean {
  return /(?:^|\/)_import\/?$/.test((params as Record<string, string> | undefined)?.["*"] ?? "");
}
