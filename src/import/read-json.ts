/**
 * Finds the items of a JSON array or of NDJSON. It holds at most one item and one chunk at a time, so an input can have
 * any size.
 */
import { StartError } from "../errors.ts";
import { utf8Bytes } from "./encoding.ts";
import { type InputLocation, type Item, type Items, type Splitter, tooLarge } from "./items.ts";
import { byte, isBlank, isClosing, isOpening, isPunctuation } from "./json-bytes.ts";

/** The two forms of JSON input: an array, or a JSON object on each line (NDJSON). With `array`, the lines of an object are items too. */
export type JsonForm = "array" | "lines";

/**
 * The items of a JSON array or of NDJSON. Without `form`, the first byte that is not blank decides. Ends after a broken item.
 * Throws StartError if the input has another form, or is not UTF-8.
 */
export async function* readJson(
  input: AsyncIterable<Buffer>,
  { maxBytes, form }: JsonRules,
): AsyncGenerator<Items> {
  let bytesRead = 0;
  let splitter: Splitter | undefined;
  let line = 1;
  for await (const chunk of utf8Bytes(input)) {
    bytesRead += chunk.length;
    if (splitter === undefined && chunk.every(isBlank)) {
      line += lineBreaksIn(chunk);
      continue;
    }
    splitter ??= splitterFor(chunk, { maxBytes, form, line });
    const items = splitter.push(chunk);
    yield { items, bytesRead };
    if (items.at(-1)?.kind === "broken") return;
  }
  if (bytesRead > 0) splitter ??= splitterFor(Buffer.alloc(0), { maxBytes, form, line });
  if (splitter !== undefined) yield { items: splitter.end(), bytesRead };
}

function lineBreaksIn(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
}

/** How to read JSON. */
export interface JsonRules {
  /** The limit for the text of one resource. */
  maxBytes: number;
  form?: JsonForm | undefined;
}

interface Format extends JsonRules {
  /** The line of the first byte. */
  line: number;
}

function splitterFor(start: Buffer, { maxBytes, form, line }: Format): Splitter {
  const first = start.find((next) => !isBlank(next));
  if (first === byte.openBracket && form !== "lines") return new ArraySplitter(maxBytes, line);
  if (first === byte.openBrace || (first === undefined && form !== "array"))
    return new LineSplitter(maxBytes, line);
  const excerpt = JSON.stringify(start.toString("utf8").trimStart().slice(0, 20));
  const what = first === undefined ? "contains only white space" : `begins with ${excerpt}`;
  throw new StartError(`The input is ${notWhat[form ?? "any"]}: it ${what}.`);
}

const notWhat = {
  any: "neither a JSON array nor one JSON object per line",
  array: "not a JSON array",
  lines: "not one JSON object per line",
} as const;

/** Divides NDJSON: each line is an item. Blank lines are not items. */
class LineSplitter implements Splitter {
  readonly #maxBytes: number;
  #line: number;
  /** The start of a line whose end has not arrived. Empty if the line is too large. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxBytes: number, line: number) {
    this.#maxBytes = maxBytes;
    this.#line = line;
  }

  push(chunk: Buffer): Item[] {
    const items: Item[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#hold(chunk.subarray(start, end));
      items.push(...this.end());
      this.#line++;
      start = end + 1;
    }
    this.#hold(chunk.subarray(start));
    return items;
  }

  end(): Item[] {
    const location = { line: this.#line };
    const bytes = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    const isTooLarge = this.#heldBytes > this.#maxBytes;
    this.#held = [];
    this.#heldBytes = 0;
    if (isTooLarge) return [tooLarge(location, this.#maxBytes)];
    return bytes[0] !== byte.openBrace && bytes.every(isBlank) ? [] : [{ kind: "text", location, bytes }];
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > this.#maxBytes) this.#held = [];
    else if (bytes.length > 0) this.#held.push(bytes);
  }
}

/**
 * Divides a JSON array into the texts of its elements, by their brackets and quotes alone. It does not check the content of an
 * element: the strict JSON parser does.
 */
export class ArraySplitter implements Splitter {
  readonly #maxBytes: number;
  readonly #isInner: boolean;
  /** What follows an inner array in the chunk that ends it; `undefined` until then. */
  rest: Buffer | undefined;
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

  /** `line` is the line of the first byte. `isInner`: other values of the input follow the array. */
  constructor(maxBytes: number, line: number, { isInner = false } = {}) {
    this.#maxBytes = maxBytes;
    this.#isInner = isInner;
    this.#line = line;
    this.#location = { line, element: 0 };
  }

  /** The line of the last byte. */
  get line(): number {
    return this.#line;
  }

  push(chunk: Buffer): Item[] {
    this.#chunk = chunk;
    this.#lineBreak = chunk.indexOf(10);
    let at = 0;
    for (; at < chunk.length && !this.#isBroken && !this.#hasEnded; at++) this.#take(chunk[at] as number, at);
    if (this.#depth > 0) this.#hold();
    if (this.#hasEnded) this.rest = chunk.subarray(at);
    this.#countLines(at);
    this.#chunkStart += chunk.length;
    return this.#items.splice(0);
  }

  get #hasEnded(): boolean {
    return this.#isInner && this.#expected === "nothing";
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
