import { Tokenizer, TokenType } from "@streamparser/json";
import { type Item, type Location, type Splitter, tooLarge } from "./items.ts";

/** Divides a JSON array into the texts of its elements. It does not check the content of an element. */
export class ArraySplitter implements Splitter {
  readonly #maxBytes: number;
  readonly #tokenizer = new Tokenizer();
  #items: Item[] = [];
  /** What must come next between elements. */
  #expected: "array" | "element or end" | "element" | "comma or end" | "nothing" = "array";
  #isBroken = false;

  /** The nesting depth inside an element; 0 between elements. */
  #depth = 0;
  /** The location of the current element, or of the last one. */
  #location: Location = { line: 1, element: 0 };
  /** The offset of the current element in the input. */
  #elementStart = 0;
  /** The bytes of the current element from earlier chunks. Empty if the element is too large. */
  #held: Buffer[] = [];

  #chunk: Buffer = Buffer.alloc(0);
  /** The offset of the chunk in the input. */
  #chunkStart = 0;
  #line = 1;
  /** The offset of the next line break in the chunk; -1 if there is none. */
  #lineBreak = -1;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    // The tokenizer collects the text of each string, which takes a third of the time and has no memory limit. If a
    // release renames this member, only this saving is lost.
    Reflect.set(this.#tokenizer, "bufferedString", new StringLength());
    this.#tokenizer.onToken = ({ token, offset }) => this.#take(token, offset);
    this.#tokenizer.onError = () => this.#fail("is not JSON");
  }

  push(chunk: Buffer): Item[] {
    this.#chunk = chunk;
    this.#lineBreak = chunk.indexOf(10);
    this.#tokenizer.write(chunk);
    if (this.#depth > 0) this.#hold();
    this.#countLines(chunk.length);
    this.#chunkStart += chunk.length;
    return this.#items.splice(0);
  }

  end(): Item[] {
    if (this.#expected !== "nothing") this.#fail("the input ends before the array does");
    return this.#items.splice(0);
  }

  #take(token: TokenType, offset: number): void {
    if (this.#isBroken) return;
    if (this.#depth === 0) this.#takeBetween(token, offset);
    else if (isOpening(token)) this.#depth++;
    else if (isClosing(token) && --this.#depth === 0) this.#completeElement(offset + 1);
  }

  #takeBetween(token: TokenType, offset: number): void {
    const expected = this.#expected;
    this.#countLines(offset - this.#chunkStart);
    if (expected === "array") this.#expected = "element or end";
    else if (expected === "nothing") this.#fail("nothing can follow the end of the array");
    else if (expected === "comma or end") this.#takeAfterElement(token);
    else if (token === TokenType.RIGHT_BRACKET && expected === "element or end") this.#expected = "nothing";
    else this.#startElement(token, offset);
  }

  #takeAfterElement(token: TokenType): void {
    if (token === TokenType.COMMA) this.#expected = "element";
    else if (token === TokenType.RIGHT_BRACKET) this.#expected = "nothing";
    else this.#fail("a comma or the end of the array must follow each element");
  }

  #startElement(token: TokenType, offset: number): void {
    if (isClosing(token) || token === TokenType.COMMA || token === TokenType.COLON) {
      this.#fail("an element is missing");
      return;
    }
    this.#location = this.#nextLocation();
    if (isOpening(token)) {
      this.#depth = 1;
      this.#elementStart = offset;
    } else {
      this.#expected = "comma or end";
      this.#items.push({ kind: "invalid", location: this.#location, reason: "is not a JSON object" });
    }
  }

  #completeElement(end: number): void {
    this.#expected = "comma or end";
    const rest = this.#chunk.subarray(this.#startInChunk(), end - this.#chunkStart);
    const bytes = this.#held.length === 0 ? rest : Buffer.concat([...this.#held, rest]);
    this.#held = [];
    this.#items.push(
      end - this.#elementStart > this.#maxBytes
        ? tooLarge(this.#location, this.#maxBytes)
        : { kind: "text", location: this.#location, bytes },
    );
  }

  #hold(): void {
    const bytes = this.#chunkStart + this.#chunk.length - this.#elementStart;
    if (bytes > this.#maxBytes) this.#held = [];
    else this.#held.push(this.#chunk.subarray(this.#startInChunk()));
  }

  #startInChunk(): number {
    return Math.max(0, this.#elementStart - this.#chunkStart);
  }

  #countLines(until: number): void {
    while (this.#lineBreak !== -1 && this.#lineBreak < until) {
      this.#line++;
      this.#lineBreak = this.#chunk.indexOf(10, this.#lineBreak + 1);
    }
  }

  #nextLocation(): Location {
    return { line: this.#line, element: (this.#location.element ?? 0) + 1 };
  }

  /** Ends the items: after an error, the ends of strings and brackets are unknown. */
  #fail(reason: string): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const location = this.#depth > 0 ? this.#location : this.#nextLocation();
    this.#items.push({ kind: "broken", location, reason });
  }
}

/** Counts the bytes of a string, and does not store them. The tokenizer needs them for its offsets. */
class StringLength {
  byteLength = 0;

  appendChar(): void {
    this.byteLength++;
  }

  appendBuf(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.byteLength += end - start;
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
