/** A TCP connection that sends exact bytes and reads HTTP/1.1 responses one by one. */
import { connect as connectTcp, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ceilingMs } from "../until.ts";

/** One response, as received. */
export interface WireAnswer {
  status: number;
  /** By lower-case name. Repeated headers are joined with `, `. */
  headers: Record<string, string>;
  body: string;
}

/** A connection that a test controls completely. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #closed = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#closed = true;
      this.#wake();
    });
  }

  /** Sends bytes. A string is sent as latin1, so that it can contain any byte. */
  write(bytes: string | Uint8Array): void {
    if (!this.#closed) this.#socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** The next response. Throws if the connection closes before it is complete, or after `ceilingMs`. */
  async answer(method = "GET"): Promise<WireAnswer> {
    const deadline = performance.now() + ceilingMs;
    for (;;) {
      const parsed = parseAnswer(this.#received, method, this.#closed);
      if (parsed !== undefined) {
        this.#received = this.#received.subarray(parsed.length);
        return parsed.answer;
      }
      if (this.#closed) throw new Error(`closed within an answer: ${this.#preview()}`);
      if (performance.now() > deadline)
        throw new Error(`no whole answer in ${ceilingMs} ms: ${this.#preview()}`);
      await this.#something(deadline);
    }
  }

  /** Everything that arrives until the service closes the connection. Throws after `ceilingMs`. */
  async untilClosed(): Promise<string> {
    const deadline = performance.now() + ceilingMs;
    while (!this.#closed) {
      if (performance.now() > deadline)
        throw new Error(`still open after ${ceilingMs} ms: ${this.#preview()}`);
      await this.#something(deadline);
    }
    return this.#received.toString("latin1");
  }

  /** The received bytes that do not belong to a read response. */
  get received(): string {
    return this.#received.toString("latin1");
  }

  /** Whether the other side has closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Ends the sending side. The other side can still answer. */
  end(): void {
    this.#socket.end();
  }

  /** Ends the connection from this side. */
  close(): void {
    this.#socket.destroy();
  }

  /** Breaks the connection, so that the other side knows at once that nothing reads its answer. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  async #something(deadline: number): Promise<void> {
    const stop = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const late = delay(Math.max(1, deadline - performance.now() + 1), undefined, { signal: stop.signal });
    await Promise.race([woken, late.catch(() => {})]);
    stop.abort();
  }

  #preview(): string {
    return JSON.stringify(this.#received.toString("latin1").slice(0, 500));
  }
}

/** Opens a connection to a port of the loopback address. */
export function openConnection(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: "127.0.0.1", port, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => resolve(new Connection(socket)));
  });
}

/** Every response in a text. The last one can end with the connection. */
export function parseAnswers(text: string, ...methods: string[]): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = Buffer.from(text, "latin1");
  while (rest.length > 0) {
    const parsed = parseAnswer(rest, methods[answers.length] ?? "GET", true);
    if (parsed === undefined) throw new Error(`not an HTTP answer: ${JSON.stringify(text.slice(0, 500))}`);
    answers.push(parsed.answer);
    rest = rest.subarray(parsed.length);
  }
  return answers;
}

interface Parsed {
  answer: WireAnswer;
  length: number;
}

function parseAnswer(bytes: Buffer, method: string, closed: boolean): Parsed | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...fields] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not a status line: ${statusLine}`);
  const headers = toHeaders(fields);
  const body = readBody(bytes.subarray(end + 4), { status, method, headers, closed });
  if (body === undefined) return undefined;
  return { answer: { status, headers, body: body.text }, length: end + 4 + body.length };
}

function toHeaders(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(":");
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

interface Framing {
  status: number;
  method: string;
  headers: Record<string, string>;
  closed: boolean;
}

/** Reads a body as RFC 9112 section 6.3 requires of a client. 205 is no exception there. */
function readBody(bytes: Buffer, framing: Framing): { text: string; length: number } | undefined {
  const { status, method, headers, closed } = framing;
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return { text: "", length: 0 };
  if (headers["transfer-encoding"] !== undefined) return readChunks(bytes);
  if (headers["content-length"] !== undefined) {
    const length = Number(headers["content-length"]);
    if (bytes.length < length) return undefined;
    return { text: bytes.subarray(0, length).toString("utf8"), length };
  }
  return closed ? { text: bytes.toString("utf8"), length: bytes.length } : undefined;
}

function readChunks(bytes: Buffer): { text: string; length: number } | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    parts.push(bytes.subarray(start, start + size));
    at = start + size + 2;
    if (size === 0) return { text: Buffer.concat(parts).toString("utf8"), length: at };
  }
}
