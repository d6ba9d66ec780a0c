/**
 * Rewrites the quotes of CSV to the form of RFC 4180: blanks beside the quotes of a cell, and quotes inside it behind a backslash. A file that
 * follows RFC 4180 stays unchanged: only a quote behind a backslash that ends no cell shows that backslashes escape.
 */

const quote = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;

/** More blanks than these belong to the text of a cell. */
const maxBlanks = 1_000;

function isBlank(next: number): boolean {
  return next === 0x20 || next === tab;
}

/** Where a byte is: before a cell, in one without quotes, in one with quotes, or behind a quote or backslash of that one. */
type State = "before" | "plain" | "quoted" | "behind" | "escape" | "escaped";

/** Rewrites the bytes of an input, part by part. */
export class CsvQuotes {
  readonly #delimiter: Buffer;
  #state: State = "before";
  #unclear: string | undefined;
  /** The number of bytes of the delimiter that the last bytes have. */
  #matched = 0;
  /** Whether a backslash in a cell with quotes escapes what follows. */
  #isEscaping = false;
  /** Whether a backslash was text so far: a later escape would contradict it. */
  #hasTextBackslash = false;
  /** The blanks before a cell, or behind its last quote. */
  #blanks: number[] = [];
  #out: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(delimiter: string) {
    this.#delimiter = Buffer.from(delimiter);
  }

  /** Whether the input has a quote whose meaning is unclear: text follows the end of a cell in quotes. */
  get isUnclear(): boolean {
    return this.#unclear !== undefined;
  }

  /** The first character of that text, or a tab before it. */
  get unclear(): string | undefined {
    return this.#unclear;
  }

  /** Returns the bytes as RFC 4180 writes them, up to a quote that is unclear. A quote at the end waits for the next part. */
  push(chunk: Buffer): Buffer {
    if (this.#isUnchanged(chunk)) return chunk;
    this.#begin(chunk.length);
    for (let at = 0; at < chunk.length && this.#unclear === undefined; at++) {
      at = this.#copyText(chunk, at);
      if (at < chunk.length) this.#take(chunk[at] as number);
    }
    return this.#out.subarray(0, this.#length);
  }

  /** Copies the bytes of a cell from `at` up to one that matters. Returns its place. */
  #copyText(chunk: Buffer, at: number): number {
    const isQuoted = this.#state === "quoted";
    if (!isQuoted && (this.#state !== "plain" || this.#delimiter.length > 1)) return at;
    const [one, other] = isQuoted ? [quote, backslash] : [this.#delimiter[0], carriageReturn];
    const out = this.#out;
    let length = this.#length;
    let place = at;
    for (; place < chunk.length; place++) {
      const next = chunk[place] as number;
      if (next === one || next === other || next === lineFeed) break;
      out[length++] = next;
    }
    this.#length = length;
    return place;
  }

  /** Returns what waits for the next part. */
  end(): Buffer {
    this.#begin(0);
    if (this.#state === "escaped") this.#put(backslash, quote);
    else if (this.#state === "behind") this.#put(quote);
    else if (this.#state === "escape") this.#put(backslash);
    else this.#put(...this.#blanks);
    return this.#out.subarray(0, this.#length);
  }

  /** What waits from earlier parts is at most the blanks and two bytes longer than a part. */
  #begin(length: number): void {
    this.#out = Buffer.allocUnsafe(length + maxBlanks + 2);
    this.#length = 0;
  }

  #put(...bytes: readonly number[]): void {
    for (const each of bytes) this.#out[this.#length++] = each;
  }

  /** Takes a part without quotes, which most parts are, as a whole. */
  #isUnchanged(chunk: Buffer): boolean {
    const last = chunk.at(-1);
    if (last === undefined) return true;
    const isOutside = this.#state === "plain" || (this.#state === "before" && this.#blanks.length === 0);
    if (!isOutside || this.#delimiter.length > 1 || isBlank(last) || chunk.includes(quote)) return false;
    this.#state = this.#mayEndCell(last) ? "before" : "plain";
    return true;
  }

  #take(next: number): void {
    switch (this.#state) {
      case "quoted":
        if (next === quote) this.#state = "behind";
        else if (next === backslash) this.#state = "escape";
        else this.#put(next);
        return;
      case "behind":
        this.#takeBehind(next);
        return;
      case "escape":
        this.#takeEscape(next);
        return;
      case "escaped":
        this.#takeEscaped(next);
        return;
      case "before":
        if (next === quote) {
          this.#blanks = [];
          this.#matched = 0;
          this.#state = "quoted";
          this.#put(next);
        } else if (this.#mayWait(next)) this.#blanks.push(next);
        else this.#takePlain(next);
        return;
      case "plain":
        this.#takePlain(next);
    }
  }

  #takePlain(next: number): void {
    this.#put(...this.#blanks, next);
    this.#blanks = [];
    this.#state = this.#endsCell(next) ? "before" : "plain";
  }

  /** Takes a byte behind a quote in a cell with quotes: the quote is doubled, or it ends the cell. */
  #takeBehind(next: number): void {
    if (next === quote && this.#blanks.length === 0) {
      this.#put(quote, quote);
      this.#state = "quoted";
    } else if (this.#mayWait(next)) this.#blanks.push(next);
    else this.#endCell([], next);
  }

  /** Takes a byte behind a backslash. */
  #takeEscape(next: number): void {
    this.#state = next === quote && !this.#isEscaping ? "escaped" : "quoted";
    if (this.#state === "escaped") return;
    if (next === backslash && !this.#isEscaping) this.#hasTextBackslash = true;
    if (this.#isEscaping && next === quote) this.#put(quote, quote);
    else if (this.#isEscaping && next === backslash) this.#put(backslash);
    else this.#put(backslash, next);
  }

  /** Takes a byte behind a backslash and a quote, of which the backslash is text or escapes the quote. */
  #takeEscaped(next: number): void {
    if (this.#mayEndCell(next)) {
      this.#hasTextBackslash = true;
      this.#endCell([backslash], next);
    } else if (next === quote) {
      this.#hasTextBackslash = true;
      this.#put(backslash, quote, quote);
      this.#state = "quoted";
    } else {
      if (this.#hasTextBackslash) this.#unclear = String.fromCharCode(next);
      this.#isEscaping = true;
      this.#put(quote, quote);
      this.#state = "quoted";
      this.#take(next);
    }
  }

  #endCell(last: readonly number[], next: number): void {
    if (!this.#mayEndCell(next)) {
      // A tab here is more likely a delimiter than a blank.
      this.#unclear = this.#blanks.includes(tab) ? "\t" : String.fromCharCode(next);
      return;
    }
    this.#put(...last, quote, next);
    this.#blanks = [];
    this.#state = this.#endsCell(next) ? "before" : "plain";
  }

  #mayEndCell(next: number): boolean {
    return next === lineFeed || next === carriageReturn || next === this.#delimiter[0];
  }

  /** Whether a blank can be one beside the quotes of a cell. */
  #mayWait(next: number): boolean {
    return isBlank(next) && next !== this.#delimiter[0] && this.#blanks.length < maxBlanks;
  }

  /** Whether the byte ends a line, or is the last one of a delimiter. */
  #endsCell(next: number): boolean {
    if (next === lineFeed || next === carriageReturn) this.#matched = 0;
    else if (next === this.#delimiter[this.#matched]) this.#matched++;
    else this.#matched = next === this.#delimiter[0] ? 1 : 0;
    if (this.#matched < this.#delimiter.length) return next === lineFeed || next === carriageReturn;
    this.#matched = 0;
    return true;
  }
}
