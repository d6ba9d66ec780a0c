import { isUtf8 } from "node:buffer";

/** Whether bytes that come in chunks are UTF-8. Each call gives the line of the first that is not, or `undefined`. */
export class Utf8Check {
  /** The beginning of a character whose end has not come yet. */
  #begun: Buffer = Buffer.alloc(0);
  #line = 1;

  push(chunk: Buffer): number | undefined {
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    const end = endOfWholeCharacters(bytes);
    const whole = bytes.subarray(0, end);
    this.#begun = bytes.subarray(end);
    if (!isUtf8(whole)) return this.#line + lineOfFirstBad(whole);
    for (let at = whole.indexOf(lineFeed); at !== -1; at = whole.indexOf(lineFeed, at + 1)) this.#line++;
    return undefined;
  }

  end(): number | undefined {
    return this.#begun.length === 0 ? undefined : this.#line;
  }
}

const lineFeed = 0x0a;

/** Where the last character begins, if it may go on in the next chunk; else the end. */
function endOfWholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // inside of a character
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function lineOfFirstBad(bytes: Buffer): number {
  let line = 0;
  for (let begin = 0; ; line++) {
    const end = bytes.indexOf(lineFeed, begin);
    if (end === -1 || !isUtf8(bytes.subarray(begin, end))) return line;
    begin = end + 1;
  }
}
