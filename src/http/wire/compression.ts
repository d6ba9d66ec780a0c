/** Compresses answers: a short text at once, a longer one in a thread of Node's pool, a streamed one piece by piece. */
import type { Transform } from "node:stream";
import { promisify } from "node:util";
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  type ZlibOptions,
} from "node:zlib";
import type { Budget } from "../limits/budget.ts";
import { acceptedCodings, codedTag } from "../protocol/codings.ts";
import type { Coding, HttpRequest, HttpResponse } from "../protocol/message.ts";

/** Content up to this size, in bytes, is sent as it is: it would hardly become fewer packets. */
const smallBytes = 1_024;

/** The longest text that is compressed at once, in characters: to hand it to a thread would take as long. */
const shortText = 8_192;

/** The texts that are compressed at a time. One thread of Node's pool of four is left for files and names. */
const maxAtWork = 3;

/** A window of 256 KiB: larger ones take more memory for each answer, and hardly make JSON smaller. */
const brotliWindow = 18;

/**
 * The coding that an answer gets; `undefined` for none. Only answers to GET, HEAD and QUERY have one: a stored response to a
 * retry stays as it was.
 */
export function codingOf({ method, headers }: HttpRequest, response: HttpResponse): Coding | undefined {
  const value = headers["accept-encoding"];
  if (value === undefined || (method !== "GET" && method !== "HEAD" && method !== "QUERY")) return undefined;
  const bytes = bytesOf(response);
  if (bytes === 0) return undefined;
  const { preferred, plain } = acceptedCodings(value);
  return bytes > smallBytes || !plain ? preferred : undefined;
}

/** The size of the content, also where HEAD leaves it out; about the size if it is streamed. */
function bytesOf({ headers, body }: HttpResponse): number {
  return typeof body === "object" && "pieces" in body
    ? body.heldBytes
    : Number(headers["content-length"] ?? 0);
}

/**
 * The answer with its content compressed; a streamed one is compressed while it is sent. The answer to HEAD gets the same
 * headers without a length, which only the content would tell (RFC 9110 §9.3.2).
 */
export async function compressed(
  compressions: Compressions,
  response: HttpResponse,
  coding: Coding,
): Promise<HttpResponse> {
  const { status, body } = response;
  const { "content-length": _, ...headers } = response.headers;
  headers["content-encoding"] = coding;
  if (headers.etag !== undefined && status === 200) headers.etag = codedTag(headers.etag, coding);
  if (body === undefined || Buffer.isBuffer(body)) return { status, headers, body };
  if (typeof body === "object") {
    const heldBytes = body.heldBytes + encoderBytes[coding];
    return { status, headers, body: { ...body, heldBytes, coding } };
  }
  const bytes = body.length <= shortText ? compressNow(body, coding) : await compressions.run(body, coding);
  headers["content-length"] = String(bytes.length);
  return { status, headers, body: bytes };
}

/** The memory of an encoder while it streams, in bytes. */
const encoderBytes: Readonly<Record<Coding, number>> = { br: 1_048_576, gzip: 327_680 };

/** An encoder for content that is made while it is sent. */
export function createEncoder(coding: Coding): Transform {
  return coding === "br" ? createBrotliCompress(brotliOptions()) : createGzip(gzipOptions());
}

function compressNow(text: string, coding: Coding): Buffer {
  return coding === "br"
    ? brotliCompressSync(text, brotliOptions(text.length))
    : gzipSync(text, gzipOptions(text.length));
}

const brotli = promisify<string, BrotliOptions, Buffer>(brotliCompress);
const zip = promisify<string, ZlibOptions, Buffer>(gzip);

/** The long texts of one application that are compressed, or wait for that. */
export class Compressions {
  readonly #budget: Budget;
  readonly #waiting: (() => void)[] = [];
  #atWork = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Compresses when fewer than `maxAtWork` others do: what waits holds its text alone. */
  async run(text: string, coding: Coding): Promise<Buffer> {
    this.#budget.held += text.length;
    if (this.#atWork < maxAtWork) this.#atWork++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await (coding === "br"
        ? brotli(text, brotliOptions(text.length))
        : zip(text, gzipOptions(text.length)));
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#atWork--;
      else next();
      this.#budget.held -= text.length;
    }
  }
}

/** Quality 4 of 11: the last that is about as quick as gzip. */
function brotliOptions(size?: number): BrotliOptions {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
    ...(size === undefined ? {} : { [constants.BROTLI_PARAM_SIZE_HINT]: size }),
  };
  return { params, chunkSize: chunkSize(size) };
}

/** Level 4 of 9: the default, 6, takes two to three times as long for an eighth less. */
function gzipOptions(size?: number): ZlibOptions {
  return { level: 4, chunkSize: chunkSize(size) };
}

/** Each chunk of the result is a way to a thread and back. */
function chunkSize(size = 16_384): number {
  return Math.min(Math.max(size, 1_024), 65_536);
}
