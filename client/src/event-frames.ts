/** Reads server-sent events: the HTML standard, section 9.2.6. */

/** A frame of a stream: what a blank line ends. */
export interface Frame {
  /** The id of this frame, or else of the last one that had any. */
  readonly id: string;
  /** `undefined` in a frame that only moves the id. */
  readonly data: string | undefined;
}

/** Reads one stream. It keeps what is not complete yet; what is still incomplete at the end of a stream does not count. */
export class FrameReader {
  #decoder = new TextDecoder();
  #line = "";
  #endedWithReturn = false;
  #id = "";
  #data: string[] = [];
  /** How long the server wants clients to wait before they connect again; `undefined` until it says so. */
  retryMs: number | undefined;

  /** The frames that these bytes complete. */
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
