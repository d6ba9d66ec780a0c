import type { Piece, Place, Splitter } from "./pieces.ts";

/** Splits NDJSON: one text a line. Blank lines are nothing. A line over `maxBytes` is a bad one. */
export class LineSplitter implements Splitter {
  readonly #maxBytes: number;
  #line = 1;
  /** The beginning of a line whose end has not come yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): Piece[] {
    const pieces: Piece[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, begin)) {
      this.#hold(chunk.subarray(begin, end));
      pieces.push(...this.#completeLine());
      this.#line++;
      begin = end + 1;
    }
    this.#hold(chunk.subarray(begin));
    return pieces;
  }

  end(): Piece[] {
    return this.#completeLine();
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > this.#maxBytes) this.#held = [];
    else if (bytes.length > 0) this.#held.push(bytes);
  }

  #completeLine(): Piece[] {
    const bytes = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    const isTooLarge = this.#heldBytes > this.#maxBytes;
    this.#held = [];
    this.#heldBytes = 0;
    if (isTooLarge) return [tooLarge({ line: this.#line }, this.#maxBytes)];
    return isBlank(bytes) ? [] : [{ kind: "text", place: { line: this.#line }, bytes }];
  }
}

/** The piece for a text that is larger than the limit. */
export function tooLarge(place: Place, maxBytes: number): Piece {
  return { kind: "bad", place, reason: `is larger than the limit of ${maxBytes} bytes` };
}

function isBlank(bytes: Buffer): boolean {
  return bytes[0] !== 0x7b && bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}
