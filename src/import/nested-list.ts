/**
 * Finds the resources in one JSON object: those of a list inside it, or the object itself. It reads the input once, and holds at most one
 * resource. Brackets, quotes and names decide; the strict JSON parser checks each resource.
 */
import { suggest } from "../collection/messages.ts";
import { StartError } from "../errors.ts";
import { utf8Bytes } from "./encoding.ts";
import { type InputLocation, type Item, type Items, type Splitter, tooLarge } from "./items.ts";
import { byte, isBlank, isClosing, isOpening } from "./json-bytes.ts";
import { ArraySplitter } from "./read-json.ts";

/**
 * The items in one JSON object. `at`: the names that lead to the list, with dots between them, or "." for the object itself. Ends after a
 * broken item. Throws StartError if the input has no such list.
 */
export async function* readNested(
  input: AsyncIterable<Buffer>,
  at: string,
  maxBytes: number,
): AsyncGenerator<Items> {
  const splitter = at === "." ? new WholeSplitter(maxBytes) : new NestedSplitter(at.split("."), maxBytes);
  let bytesRead = 0;
  for await (const chunk of utf8Bytes(input)) {
    bytesRead += chunk.length;
    const items = splitter.push(chunk);
    yield { items, bytesRead };
    if (items.at(-1)?.kind === "broken") return;
  }
  yield { items: splitter.end(), bytesRead };
}

/** The whole input is one resource. */
class WholeSplitter implements Splitter {
  readonly #maxBytes: number;
  #held: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): Item[] {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#held = [];
    else this.#held.push(chunk);
    return [];
  }

  end(): Item[] {
    const location = { line: 1 };
    if (this.#bytes > this.#maxBytes) return [tooLarge(location, this.#maxBytes)];
    return [{ kind: "text", location, bytes: Buffer.concat(this.#held) }];
  }
}

/** Divides a list inside an object into its elements. */
class NestedSplitter implements Splitter {
  readonly #maxBytes: number;
  readonly #path: readonly string[];
  readonly #before: PathScanner;
  #list: ArraySplitter | undefined;
  #after: PathScanner | undefined;

  constructor(path: readonly string[], maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#before = new PathScanner(path);
  }

  push(chunk: Buffer): Item[] {
    if (this.#after !== undefined) return this.#pass(this.#after, chunk);
    let rest = chunk;
    if (this.#list === undefined) {
      const start = this.#before.findList(chunk);
      if (start === undefined) return [];
      this.#list = new ArraySplitter(this.#maxBytes, this.#before.line, { isInner: true });
      rest = chunk.subarray(start);
    }
    const items = this.#list.push(rest);
    if (this.#list.rest === undefined) return items;
    this.#after = new PathScanner(this.#path, this.#list.line);
    return [...items, ...this.#pass(this.#after, this.#list.rest)];
  }

  end(): Item[] {
    if (this.#list === undefined) throw this.#before.missing();
    if (this.#after === undefined) return this.#list.end();
    return this.#after.isOpen ? [broken(this.#after.line, "the input ends before the object does")] : [];
  }

  #pass(scanner: PathScanner, chunk: Buffer): Item[] {
    const fault = scanner.readRest(chunk);
    return fault === undefined ? [] : [broken(scanner.line, fault)];
  }
}

function broken(line: number, reason: string): Item {
  return { kind: "broken", location: { line } satisfies InputLocation, reason };
}

/** The most bytes of a name that are compared. */
const maxName = 1_000;

/** The names that a message lists. */
const maxNames = 20;

/** Follows a path of names through the objects of a JSON text, byte by byte. */
class PathScanner {
  readonly #path: readonly string[];
  /** The line of the last byte. */
  line: number;
  /** How many brackets are open. */
  #depth: number;
  /** The depth of the innermost open object of the path. */
  #pathDepth: number;
  #isInString = false;
  #isEscaped = false;
  /** The bytes of a string of the object. */
  #name: number[] = [];
  /** The last string of the object. */
  #last: string | undefined;
  /** Whether the value that comes next belongs to the next name of the path. */
  #isWanted = false;
  /** The names in the object of the path. */
  #names = new Set<string>();

  /** `endOfList`: the line where the list of the path has ended. @default nothing was read yet */
  constructor(path: readonly string[], endOfList?: number) {
    this.#path = path;
    this.line = endOfList ?? 1;
    this.#depth = endOfList === undefined ? 0 : path.length;
    this.#pathDepth = endOfList === undefined ? 1 : path.length;
  }

  /** Whether the object has not ended. */
  get isOpen(): boolean {
    return this.#depth > 0;
  }

  /** The offset of the list in the chunk; `undefined` if it comes later. Throws StartError if the object has no such list. */
  findList(chunk: Buffer): number | undefined {
    for (let at = 0; at < chunk.length; at++) {
      const next = chunk[at] as number;
      if (this.#skips(next)) continue;
      if (this.#depth === 0 && next !== byte.openBrace)
        throw new StartError(
          `The input is not one JSON object, so it has no ${this.#named(this.#path.length)}.`,
        );
      const isLast = this.#pathDepth === this.#path.length;
      if (this.#isWanted && next === byte.openBracket && isLast) return at;
      if (this.#isWanted) {
        if (next !== byte.openBrace || isLast) throw this.#unfit(next, isLast);
        this.#isWanted = false;
        this.#pathDepth++;
        this.#names = new Set();
      }
      this.#count(next);
      if (this.#depth < this.#pathDepth) throw this.missing();
    }
    return undefined;
  }

  /** Reads what follows the list. Returns what is wrong. */
  readRest(chunk: Buffer): string | undefined {
    for (let at = 0; at < chunk.length; at++) {
      const next = chunk[at] as number;
      if (this.#skips(next)) continue;
      if (this.#depth === 0) return "nothing can follow the end of the object";
      this.#count(next);
      this.#pathDepth = Math.min(this.#pathDepth, this.#depth);
      if (this.#isWanted) return `the member ${this.#named(this.#pathDepth)} occurs twice`;
    }
    return undefined;
  }

  /** What is wrong with the member of the path whose value begins with this byte. */
  #unfit(next: number, isLast: boolean): StartError {
    const member = `The member ${this.#named(this.#pathDepth)} of the input`;
    return new StartError(
      isLast && next === byte.openBrace
        ? `${member} is an object, not a list: write its members as a list, each with its name as "id".`
        : `${member} is not ${isLast ? "a list" : "an object"}.`,
    );
  }

  missing(): StartError {
    const names = [...this.#names];
    const wanted = this.#path[this.#pathDepth - 1] ?? "";
    return new StartError(
      `The input has no member ${this.#named(this.#pathDepth)}. ${suggest(wanted, names)}`,
    );
  }

  /** Takes blanks and the bytes of strings. */
  #skips(next: number): boolean {
    if (next === 0x0a) this.line++;
    if (!this.#isInString) {
      if (next !== byte.quote || this.#isWanted) return isBlank(next);
      this.#isInString = true;
      this.#name = [];
      return true;
    }
    if (!this.#isEscaped && next === byte.quote) this.#endString();
    else if (this.#name.length < maxName) this.#name.push(next);
    this.#isEscaped = !this.#isEscaped && next === byte.backslash;
    return true;
  }

  #endString(): void {
    this.#isInString = false;
    if (this.#depth === this.#pathDepth) this.#last = nameOf(Buffer.from(this.#name));
  }

  #count(next: number): void {
    if (isOpening(next)) this.#depth++;
    else if (isClosing(next)) this.#depth--;
    else if (next === byte.colon && this.#depth === this.#pathDepth) {
      this.#isWanted = this.#last === this.#path[this.#pathDepth - 1];
      if (this.#last !== undefined && this.#names.size < maxNames) this.#names.add(this.#last);
    }
  }

  #named(names: number): string {
    return JSON.stringify(this.#path.slice(0, names).join("."));
  }
}

function nameOf(bytes: Buffer): string | undefined {
  try {
    return JSON.parse(`"${bytes}"`) as string;
  } catch {
    return undefined; // the name is cut off or not JSON, so it is not that of a path
  }
}
