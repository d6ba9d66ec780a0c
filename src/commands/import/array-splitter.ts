import { Tokenizer, TokenType } from "@streamparser/json";
import { tooLarge } from "./line-splitter.ts";
import type { Piece, Place, Splitter } from "./pieces.ts";

/** Splits a JSON array into the texts of its elements. An element over `maxBytes` is a bad one. */
export class ArraySplitter implements Splitter {
  readonly #maxBytes: number;
  readonly #tokenizer = new Tokenizer();
  #pieces: Piece[] = [];
  /** What may come next at the level of the array itself. */
  #expected: "array" | "element or end" | "element" | "comma or end" | "nothing" = "array";
  #isBroken = false;

  /** How deep in an element we are; 0 between elements. */
  #depth = 0;
  #place: Place = { line: 1, element: 0 };
  /** Where the element begins in the whole input. */
  #elementBegin = 0;
  /** The element's bytes from the chunks before this one. */
  #held: Buffer[] = [];

  #chunk: Buffer = Buffer.alloc(0);
  /** Where the chunk begins in the whole input. */
  #chunkBegin = 0;
  #line = 1;
  /** Where in the chunk the next line break is; -1 = no more. */
  #lineBreak = -1;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    // Gathering strings that nobody reads takes a third of the time, and no bound of memory. Were the member to get
    // another name, this would do nothing.
    Reflect.set(this.#tokenizer, "bufferedString", new StringLength());
    this.#tokenizer.onToken = ({ token, offset }) => this.#take(token, offset);
    this.#tokenizer.onError = () => this.#breakOff("is not JSON");
  }

  push(chunk: Buffer): Piece[] {
    this.#chunk = chunk;
    this.#lineBreak = chunk.indexOf(10);
    this.#tokenizer.write(chunk);
    if (this.#depth > 0) this.#hold();
    this.#countLines(chunk.length);
    this.#chunkBegin += chunk.length;
    return this.#pieces.splice(0);
  }

  end(): Piece[] {
    if (this.#expected !== "nothing") this.#breakOff("the input ends before the array does");
    return this.#pieces.splice(0);
  }

  #take(token: TokenType, offset: number): void {
    if (this.#isBroken) return;
    if (this.#depth > 0) this.#takeInside(token, offset);
    else this.#takeBetween(token, offset);
  }

  #takeInside(token: TokenType, offset: number): void {
    if (isOpening(token)) this.#depth++;
    else if (isClosing(token)) {
      this.#depth--;
      if (this.#depth === 0) this.#completeElement(offset + 1);
    }
  }

  #takeBetween(token: TokenType, offset: number): void {
    const expected = this.#expected;
    this.#countLines(offset - this.#chunkBegin);
    if (expected === "array") this.#expected = "element or end";
    else if (expected === "nothing") this.#breakOff("nothing can follow the end of the array");
    else if (expected === "comma or end") this.#takeAfterElement(token);
    else if (token === TokenType.RIGHT_BRACKET && expected === "element or end") this.#expected = "nothing";
    else this.#beginElement(token, offset);
  }

  #takeAfterElement(token: TokenType): void {
    if (token === TokenType.COMMA) this.#expected = "element";
    else if (token === TokenType.RIGHT_BRACKET) this.#expected = "nothing";
    else this.#breakOff("a comma or the end of the array must follow each element");
  }

  #beginElement(token: TokenType, offset: number): void {
    if (isClosing(token) || token === TokenType.COMMA || token === TokenType.COLON) {
      this.#breakOff("an element is missing");
      return;
    }
    this.#place = this.#nextPlace();
    if (isOpening(token)) {
      this.#depth = 1;
      this.#elementBegin = offset;
    } else {
      this.#expected = "comma or end";
      this.#pieces.push({ kind: "bad", place: this.#place, reason: "is not a JSON object" });
    }
  }

  #completeElement(end: number): void {
    this.#expected = "comma or end";
    const rest = this.#chunk.subarray(this.#beginInChunk(), end - this.#chunkBegin);
    const bytes = this.#held.length === 0 ? rest : Buffer.concat([...this.#held, rest]);
    this.#held = [];
    this.#pieces.push(
      end - this.#elementBegin > this.#maxBytes
        ? tooLarge(this.#place, this.#maxBytes)
        : { kind: "text", place: this.#place, bytes },
    );
  }

  #hold(): void {
    const bytes = this.#chunkBegin + this.#chunk.length - this.#elementBegin;
    if (bytes > this.#maxBytes) this.#held = [];
    else this.#held.push(this.#chunk.subarray(this.#beginInChunk()));
  }

  #beginInChunk(): number {
    return Math.max(0, this.#elementBegin - this.#chunkBegin);
  }

  #countLines(until: number): void {
    while (this.#lineBreak !== -1 && this.#lineBreak < until) {
      this.#line++;
      this.#lineBreak = this.#chunk.indexOf(10, this.#lineBreak + 1);
    }
  }

  #nextPlace(): Place {
    return { line: this.#line, element: (this.#place.element ?? 0) + 1 };
  }

  /** Where strings and brackets end would be a guess from here on. */
  #breakOff(reason: string): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const place = this.#depth > 0 ? this.#place : this.#nextPlace();
    this.#pieces.push({ kind: "broken", place, reason });
  }
}

/** Counts a string's bytes, which is all that offsets need. */
class StringLength {
  byteLength = 0;

  appendChar(): void {
    this.byteLength++;
  }

  appendBuf(bytes: Uint8Array, begin = 0, end = bytes.length): void {
    this.byteLength += end - begin;
  }

  appendCharCode(): void {}

  reset(): void {
    this.byteLength = 0;
  }

  toString(): string {
    return "";
  }
}

function isOpening(token: TokenType): boolean {
  return token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET;
}

function isClosing(token: TokenType): boolean {
  return token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET;
}
