import { type InputLocation, type Item, type Splitter, tooLarge } from "./items.ts";

/** The bytes of JSON that divide an array. Every other character of UTF-8 has only bytes that differ from these. */
const byte = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

/**
 * Divides a JSON array into the texts of its elements, by their brackets and quotes alone. It does not check the content of an
 * element: the strict JSON parser does.
 */
export class ArraySplitter implements Splitter {
  readonly #maxBytes: number;
  #items: Item[] = [];
  /** What must come next between elements. */
  #expected: "array" | "element or end" | "element" | "comma or end" | "nothing" = "array";
  #isBroken = false;

  /** The nesting depth inside an element; 0 between elements. */
  #depth = 0;
  #isInString = false;
  /** Whether the next byte of a string belongs to an escape. */
  #isEscaped = false;
  /** Whether the bytes belong to an element such as `12` or `null`. */
  #isInLiteral = false;
  /** The location of the current element, or of the last one. */
  #location: InputLocation;
  /** The offset of the current element in the input. */
  #elementStart = 0;
  /** The bytes of the current element from earlier chunks. Empty if the element is too large. */
  #held: Buffer[] = [];

  #chunk: Buffer = Buffer.alloc(0);
  /** The offset of the chunk in the input. */
  #chunkStart = 0;
  #line: number;
  /** The offset of the next line break in the chunk; -1 if there is none. */
  #lineBreak = -1;

  /** `line` is the line of the first byte. */
  constructor(maxBytes: number, line: number) {
    this.#maxBytes = maxBytes;
    this.#line = line;
    this.#location = { line, element: 0 };
  }

  push(chunk: Buffer): Item[] {
    this.#chunk = chunk;
    this.#lineBreak = chunk.indexOf(10);
    for (let at = 0; at < chunk.length && !this.#isBroken; at++) this.#take(chunk[at] as number, at);
    if (this.#depth > 0) this.#hold();
    this.#countLines(chunk.length);
    this.#chunkStart += chunk.length;
    return this.#items.splice(0);
  }

  end(): Item[] {
    if (this.#expected !== "nothing") this.#fail("the input ends before the array does");
    return this.#items.splice(0);
  }

  #take(next: number, at: number): void {
    if (this.#isInString) this.#takeInString(next);
    else if (this.#depth === 0) this.#takeBetween(next, at);
    else if (next === byte.quote) this.#isInString = true;
    else if (isOpening(next)) this.#depth++;
    else if (isClosing(next) && --this.#depth === 0) this.#completeElement(this.#chunkStart + at + 1);
  }

  #takeInString(next: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (next === byte.backslash) this.#isEscaped = true;
    else if (next === byte.quote) this.#isInString = false;
  }

  #takeBetween(next: number, at: number): void {
    if (isBlank(next)) {
      this.#isInLiteral = false;
      return;
    }
    if (this.#isInLiteral && !isPunctuation(next)) return;
    this.#isInLiteral = false;
    const expected = this.#expected;
    this.#countLines(at);
    if (expected === "array") this.#expected = "element or end";
    else if (expected === "nothing") this.#fail("nothing can follow the end of the array");
    else if (expected === "comma or end") this.#takeAfterElement(next);
    else if (next === byte.closeBracket && expected === "element or end") this.#expected = "nothing";
    else this.#startElement(next, at);
  }

  #takeAfterElement(next: number): void {
    if (next === byte.comma) this.#expected = "element";
    else if (next === byte.closeBracket) this.#expected = "nothing";
    else this.#fail("a comma or the end of the array must follow each element");
  }

  #startElement(next: number, at: number): void {
    if (isClosing(next) || next === byte.comma || next === byte.colon) {
      this.#fail("an element is missing");
      return;
    }
    this.#location = this.#nextLocation();
    if (isOpening(next)) {
      this.#depth = 1;
      this.#elementStart = this.#chunkStart + at;
      return;
    }
    this.#expected = "comma or end";
    this.#isInString = next === byte.quote;
    this.#isInLiteral = !this.#isInString;
    this.#items.push({ kind: "invalid", location: this.#location, reason: "is not a JSON object" });
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

  #nextLocation(): InputLocation {
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

function isOpening(next: number): boolean {
  return next === byte.openBrace || next === byte.openBracket;
}

function isClosing(next: number): boolean {
  return next === byte.closeBrace || next === byte.closeBracket;
}

function isPunctuation(next: number): boolean {
  return (
    isOpening(next) || isClosing(next) || next === byte.comma || next === byte.colon || next === byte.quote
  );
}

/** The white space of JSON (RFC 8259 section 2). */
function isBlank(next: number): boolean {
  return next === 0x20 || next === 0x0a || next === 0x0d || next === 0x09;
}
