/** Compresses responses: a short text at once, a longer one in a thread of Node's pool, a streamed one piece by piece. */
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
import type { Admission } from "../admission/ticket.ts";
import { acceptedCodings, codedTag } from "../protocol/codings.ts";
import { type Coding, type HttpRequest, type HttpResponse, isLive } from "../protocol/message.ts";

/** Bodies up to this size, in bytes, are not compressed: they would not need fewer packets. */
const smallBytes = 1_024;

/** The longest text that is compressed at once, in characters. Using a thread would take as long. */
const shortText = 8_192;

/** The texts that are compressed at the same time. Node's pool has four threads, and one stays free for files and DNS. */
const maxAtWork = 3;

/** A window of 256 KiB. A larger one needs more memory for each response, and makes JSON hardly smaller. */
const brotliWindow = 18;

/**
 * The coding of a response; `undefined` for none. Only responses to GET, HEAD and QUERY have one, so the stored response to
 * a retry does not change.
 */
export function codingOf({ method, headers }: HttpRequest, response: HttpResponse): Coding | undefined {
  const value = headers["accept-encoding"];
  if (value === undefined || (method !== "GET" && method !== "HEAD" && method !== "QUERY")) return undefined;
  const bytes = bytesOf(response);
  if (bytes === 0 || isCompressed(response)) return undefined;
  const { preferred, plain } = acceptedCodings(value);
  return bytes > smallBytes || !plain ? preferred : undefined;
}

/** Whether the body is compressed already, as a coded file or in its own format. */
function isCompressed({ headers }: HttpResponse): boolean {
  return headers["content-encoding"] !== undefined || headers["content-type"] === "font/woff2";
}

/** The size of the body, also of the one that HEAD leaves out. For a streamed body, an estimate. */
function bytesOf({ headers, body }: HttpResponse): number {
  return typeof body === "object" && "pieces" in body
    ? body.heldBytes
    : Number(headers["content-length"] ?? 0);
}

/**
 * The response with a compressed body. A streamed body is compressed while it is sent. The response to HEAD has the same
 * headers without the length, which is known only after compression (RFC 9110 §9.3.2).
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
  if (isLive(body)) return response;
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

/** An encoder for a streamed body. */
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

/** Compresses the long texts of one application, a few at the same time. */
export class Compressions {
  readonly #admission: Admission;
  readonly #waiting: (() => void)[] = [];
  #atWork = 0;

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** Compresses a text when fewer than `maxAtWork` others are being compressed. A waiting one holds only its text in memory. */
  async run(text: string, coding: Coding): Promise<Buffer> {
    this.#admission.held += text.length;
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
      this.#admission.held -= text.length;
    }
  }
}

/** Quality 4 of 11, the highest that is about as fast as gzip. */
function brotliOptions(size?: number): BrotliOptions {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
    ...(size === undefined ? {} : { [constants.BROTLI_PARAM_SIZE_HINT]: size }),
  };
  return { params, chunkSize: chunkSize(size) };
}

/** Level 4 of 9. The default, 6, takes two to three times as long, and the result is only an eighth smaller. */
function gzipOptions(size?: number): ZlibOptions {
  return { level: 4, chunkSize: chunkSize(size) };
}

/** Each chunk of the result costs a round trip to a thread. */
function chunkSize(size = 16_384): number {
  return Math.min(Math.max(size, 1_024), 65_536);
}
