/** Reads a JSON text slowly, to say what is wrong with it and where. Only texts that failed the gate get here. */
import { Problem, type ProblemCode } from "../errors.ts";
import type { JsonLimits } from "./gate.ts";
import { toFragment } from "./pointer.ts";

/** The first thing that is wrong with the text, in reading order; `undefined` when nothing is. */
export function explain(text: string, limits: JsonLimits): Problem | undefined {
  try {
    new Explainer(text, limits).read();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const space = 0x20;
const whiteSpace = /[ \t\n\r]*/y;
const numberShape = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const stringShape = /"[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*"/y;
const literalShape = /true|false|null/y;

/** Walks the text by recursive descent. The recursion is bounded, since too deep a text ends it. */
class Explainer {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  read(): void {
    this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#malformed("one JSON value and nothing after it");
  }

  #value(): void {
    this.#skipSpace();
    const next = this.#text[this.#at];
    if (next === "{") this.#object();
    else if (next === "[") this.#array();
    else if (next === '"') this.#string();
    else if (next !== undefined && /[-0-9]/.test(next)) this.#number();
    else if (this.#take(literalShape) === undefined) this.#malformed("a value");
  }

  #object(): void {
    this.#enter();
    const names = new Set<string>();
    this.#items("}", () => {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') this.#malformed("a member name in double quotes");
      const name = this.#string();
      this.#path.push(name);
      if (names.has(name)) this.#refuse("DUPLICATE_MEMBER", "stands twice in the same object; send it once");
      names.add(name);
      if (names.size > this.#limits.members) this.#tooLarge();
      this.#skipSpace();
      if (this.#text[this.#at] !== ":") this.#malformed('a ":" after the member name');
      this.#at++;
      this.#value();
      this.#path.pop();
    });
  }

  #array(): void {
    this.#enter();
    let index = 0;
    this.#items("]", () => {
      this.#path.push(index++);
      this.#value();
      this.#path.pop();
    });
  }

  #enter(): void {
    this.#at++;
    if (++this.#depth > this.#limits.depth) this.#tooLarge();
  }

  #depth = 0;

  /** Items with commas between them, up to the closing bracket. */
  #items(close: string, item: () => void): void {
    this.#skipSpace();
    if (this.#text[this.#at] !== close) {
      item();
      for (this.#skipSpace(); this.#text[this.#at] === ","; this.#skipSpace()) {
        this.#at++;
        item();
      }
    }
    if (this.#text[this.#at] !== close) this.#malformed(`"," or "${close}"`);
    this.#at++;
    this.#depth--;
  }

  #string(): string {
    const begin = this.#at;
    const raw = this.#take(stringShape);
    const value = raw === undefined ? undefined : unquote(raw);
    if (value === undefined) this.#malformedString(begin);
    if (value.isWellFormed() && !value.includes("\0")) return value;
    this.#at = begin;
    const what = value.includes("\0")
      ? "the null character, which cannot be kept"
      : "half of a surrogate pair";
    return this.#refuse("INVALID_STRING", `holds ${what}; leave it out`);
  }

  #number(): void {
    const begin = this.#at;
    const raw = this.#take(numberShape);
    if (raw === undefined) this.#malformed("a number");
    if (raw.length < 16 && !/e/i.test(raw)) return; // it can only be a number that can be kept
    const value = Number(raw);
    const end = this.#at;
    this.#at = begin;
    const isInteger = /^-?[0-9]+$/.test(raw);
    if (isInteger && !Number.isSafeInteger(value)) {
      this.#refuse("NUMBER_OUT_OF_RANGE", "is an integer beyond ±9007199254740991; send it as a string");
    }
    if (!Number.isFinite(value))
      this.#refuse("NUMBER_OUT_OF_RANGE", "is larger than any number that can be kept");
    if (value === 0 && /[1-9]/.test(raw.replace(/[eE].*/, ""))) {
      this.#refuse("NUMBER_OUT_OF_RANGE", "is not 0, but so small that it would become 0");
    }
    this.#at = end;
  }

  #take(shape: RegExp): string | undefined {
    shape.lastIndex = this.#at;
    if (!shape.test(this.#text)) return undefined;
    const found = this.#text.slice(this.#at, shape.lastIndex);
    this.#at = shape.lastIndex;
    return found;
  }

  #skipSpace(): void {
    if (this.#text.charCodeAt(this.#at) > space) return;
    this.#take(whiteSpace);
  }

  #malformed(expected: string): never {
    const found =
      this.#at < this.#text.length ? `finds ${JSON.stringify(charAt(this.#text, this.#at))}` : "ends";
    throw new Problem(
      "MALFORMED_JSON",
      `The content is not JSON: it ${found} at ${this.#place()}, where ${expected} should be.`,
    );
  }

  #malformedString(begin: number): never {
    this.#at = begin;
    throw new Problem(
      "MALFORMED_JSON",
      `The content is not JSON: the string that begins at ${this.#place()} has no end, a wrong escape, or a control character.`,
    );
  }

  #tooLarge(): never {
    const { depth, members } = this.#limits;
    return this.#refuse(
      "BODY_TOO_DEEP",
      `goes beyond the limits of ${depth} levels of nesting and ${members} members of one object`,
    );
  }

  #refuse(code: ProblemCode, detail: string): never {
    const pointer = toFragment(this.#path);
    throw new Problem(code, `${pointer} ${detail} (${this.#place()}).`, {
      violations: [{ in: "body", pointer, code: violationCodes[code] ?? "json", detail }],
    });
  }

  /** Line and column as editors count them. */
  #place(): string {
    const before = this.#text.slice(0, this.#at);
    const lastBreak = before.lastIndexOf("\n");
    return `line ${before.split("\n").length}, column ${this.#at - lastBreak}`;
  }
}

/** The rule that a violation breaks, by the problem that it makes. */
const violationCodes: Partial<Record<ProblemCode, string>> = {
  DUPLICATE_MEMBER: "duplicateMember",
  NUMBER_OUT_OF_RANGE: "numberRange",
  INVALID_STRING: "string",
  BODY_TOO_DEEP: "limits",
};

/** The value of a string's text; `undefined` when it holds a control character. */
function unquote(raw: string): string | undefined {
  try {
    return JSON.parse(raw) as string;
  } catch {
    return undefined;
  }
}

function charAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}
