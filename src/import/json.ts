/**
 * Finds the items of a JSON array or of NDJSON. It holds at most one item and one chunk at a time, so an input can have
 * any size.
 */
import { StartError } from "../errors.ts";
import { ArraySplitter } from "./array-splitter.ts";
import { type Item, type Items, requireUtf8, type Splitter, tooLarge } from "./items.ts";

/** The two forms of JSON input: an array, or a JSON object on each line (NDJSON). */
export type JsonForm = "array" | "lines";

/**
 * The items of a JSON array or of NDJSON. Without `form`, the first byte that is not blank decides. Ends after a broken item.
 * Throws StartError if the input has another form, or is not UTF-8 without a byte order mark.
 */
export async function* readJson(
  input: AsyncIterable<Buffer>,
  maxBytes: number,
  form?: JsonForm,
): AsyncGenerator<Items> {
  let bytesRead = 0;
  let splitter: Splitter | undefined;
  let start: Buffer = Buffer.alloc(0); // the bytes that do not show the format yet
  let line = 1;
  for await (const chunk of input) {
    let next = chunk;
    bytesRead += chunk.length;
    if (splitter === undefined) {
      start = next = Buffer.concat([start, chunk]);
      if (start.length < 4) continue; // 4 bytes show every byte order mark
      if (bytesRead === start.length) requireUtf8(start);
      if (start.every(isBlank)) {
        // Dropped, so that a long blank start needs neither memory nor a second look.
        line += lineBreaksIn(start);
        start = Buffer.alloc(0);
        continue;
      }
      splitter = splitterFor(start, { maxBytes, form, line });
    }
    const items = splitter.push(next);
    yield { items, bytesRead };
    if (items.at(-1)?.kind === "broken") return;
  }
  if (splitter === undefined && bytesRead > 0) {
    if (bytesRead === start.length) requireUtf8(start);
    splitter = splitterFor(start, { maxBytes, form, line });
    yield { items: splitter.push(start), bytesRead };
  }
  if (splitter !== undefined) yield { items: splitter.end(), bytesRead };
}

function lineBreaksIn(bytes: Buffer): number {
  return bytes.reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
}

interface Format {
  maxBytes: number;
  form: JsonForm | undefined;
  /** The line of the first byte. */
  line: number;
}

function splitterFor(start: Buffer, { maxBytes, form, line }: Format): Splitter {
  const first = start.find((byte) => !isBlank(byte));
  if (first === 0x5b && form !== "lines") return new ArraySplitter(maxBytes, line);
  if (form !== "array" && (first === 0x7b || first === undefined)) return new LineSplitter(maxBytes, line);
  const excerpt = JSON.stringify(start.toString("utf8").trimStart().slice(0, 20));
  const what = first === undefined ? "contains only white space" : `begins with ${excerpt}`;
  throw new StartError(`The input is ${notWhat[form ?? "any"]}: it ${what}.`);
}

const notWhat = {
  any: "neither a JSON array nor one JSON object per line",
  array: "not a JSON array",
  lines: "not one JSON object per line",
} as const;

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

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
    return bytes[0] !== 0x7b && bytes.every(isBlank) ? [] : [{ kind: "text", location, bytes }];
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > this.#maxBytes) this.#held = [];
    else if (bytes.length > 0) this.#held.push(bytes);
  }
}
