import { isUtf8 } from "node:buffer";

/** Checks that bytes in chunks are UTF-8. Each call returns the line of the first faulty byte, or `undefined`. */
export class Utf8Check {
  /** The start of a character that continues in the next chunk. */
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;

  push(chunk: Buffer): number | undefined {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = endOfLastCharacter(bytes);
    this.#rest = bytes.subarray(end);
    const whole = bytes.subarray(0, end);
    const isValid = isUtf8(whole);
    for (let start = 0; ; this.#line++) {
      const lineEnd = whole.indexOf(0x0a, start);
      if (!isValid && (lineEnd === -1 || !isUtf8(whole.subarray(start, lineEnd)))) return this.#line;
      if (lineEnd === -1) return undefined;
      start = lineEnd + 1;
    }
  }

  end(): number | undefined {
    return this.#rest.length === 0 ? undefined : this.#line;
  }
}

/** The end of the bytes, or the start of the last character if it can continue in the next chunk. */
function endOfLastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // not the first byte of a character
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
