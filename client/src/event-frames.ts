/** Reads the frames of server-sent events (HTML standard, section 9.2.6). It does not know what their data means. */

/** A frame of a stream. A blank line ends it. */
export interface Frame {
  /** The id of this frame, or of the last frame that had an id. */
  readonly id: string;
  /** `undefined` if the frame has only an id. */
  readonly data: string | undefined;
}

/** Reads one stream. It keeps an incomplete frame until the rest arrives. An incomplete frame at the end of the stream is ignored. */
export class FrameReader {
  #decoder = new TextDecoder();
  #line = "";
  #endedWithReturn = false;
  #id = "";
  #data: string[] = [];
  /** The wait before the next connection that the server asks for; `undefined` until it sends one. */
  retryMs: number | undefined;

  /** Reads more bytes. Returns the frames that they complete. */
  read(bytes: Uint8Array): Frame[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    if (this.#endedWithReturn && text.startsWith("\n")) text = text.slice(1);
    this.#endedWithReturn = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop() ?? "";
    return lines.flatMap((line) => this.#readLine(line) ?? []);
  }

  #readLine(line: string): Frame | undefined {
    if (line === "") return this.#finish();
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #finish(): Frame {
    const data = this.#data.length === 0 ? undefined : this.#data.join("\n");
    this.#data = [];
    return { id: this.#id, data };
  }
}
