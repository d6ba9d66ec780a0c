/** Finds the first error in a JSON text, and its line and column. `parse.ts` uses it only for texts with an error. */
import { Problem, type ProblemCode } from "../errors.ts";
import { subjectAt, toFragment } from "./pointer.ts";
import { isBadString, type JsonLimits, tryParse } from "./values.ts";

/** The subject of a message about a whole text. Code that parses another text than a request body replaces it. */
export const wholeBody = "The body";

/** The first error in the text; `undefined` if it has no error. */
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
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const leftBracket = 0x5b;
const backslash = 0x5c;
const rightBracket = 0x5d;
const leftBrace = 0x7b;
const rightBrace = 0x7d;

const maxSafeDigits = 15;
const numberShape = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/**
 * A recursive-descent parser. The depth limit also limits the recursion. A client can send a large text with the error
 * at its end, so the parser reads character codes and creates few strings.
 */
class Explainer {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #path: (string | number)[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  read(): void {
    this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#malformed("the end of the text");
  }

  #value(): void {
    this.#skipSpace();
    const code = this.#code();
    if (code === leftBrace) this.#object();
    else if (code === leftBracket) this.#array();
    else if (code === quote) this.#string();
    else if (isDigit(code) || code === minus) this.#number();
    else this.#literal();
  }

  #object(): void {
    this.#enter();
    if (!this.#take(rightBrace)) {
      const names = new Set<string>();
      do this.#member(names);
      while (this.#take(comma));
      if (!this.#take(rightBrace)) this.#malformed('"," or "}"');
    }
    this.#depth--;
  }

  #member(names: Set<string>): void {
    this.#skipSpace();
    if (this.#code() !== quote) this.#malformed("a member name in double quotes");
    const name = this.#string();
    this.#path.push(name);
    if (names.has(name)) this.#refuse("DUPLICATE_MEMBER", "appears twice in the same object: keep only one");
    names.add(name);
    if (names.size > this.#limits.members) this.#tooLarge();
    if (!this.#take(colon)) this.#malformed('a ":" after the member name');
    this.#value();
    this.#path.pop();
  }

  #array(): void {
    this.#enter();
    if (!this.#take(rightBracket)) {
      const level = this.#path.push(0) - 1;
      for (let index = 0; index === 0 || this.#take(comma); index++) {
        this.#path[level] = index;
        this.#value();
      }
      this.#path.pop();
      if (!this.#take(rightBracket)) this.#malformed('"," or "]"');
    }
    this.#depth--;
  }

  #enter(): void {
    this.#at++;
    if (++this.#depth > this.#limits.depth) this.#tooLarge();
  }

  #string(): string {
    const begin = this.#at;
    const hasEscape = this.#skipString();
    // A bad character can only come from an escape, because the bytes are valid UTF-8.
    if (!hasEscape) return this.#text.slice(begin + 1, this.#at - 1);
    const value = tryParse(this.#text.slice(begin, this.#at));
    if (typeof value !== "string") return this.#malformedString(begin);
    if (!isBadString(value)) return value;
    this.#at = begin;
    const what = value.includes("\0") ? "a null character" : "half of a surrogate pair";
    return this.#refuse("INVALID_STRING", `contains ${what}: remove it`);
  }

  /** Moves past a string, and returns whether it has escapes. Does not check them. */
  #skipString(): boolean {
    const begin = this.#at;
    let hasEscape = false;
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const code = this.#code();
      if (code < space) break;
      if (code === quote) {
        this.#at++;
        return hasEscape;
      }
      if (code === backslash) {
        hasEscape = true;
        this.#at++;
      }
    }
    return this.#malformedString(begin);
  }

  #number(): void {
    const begin = this.#at;
    const hasLeadingZero = this.#code() === zero;
    this.#skipDigits();
    const digits = this.#at - begin;
    // Most numbers are short integers, which are always valid.
    const isShort = digits > 0 && digits <= (hasLeadingZero ? 1 : maxSafeDigits);
    if (isShort && !isFraction(this.#code())) return;
    numberShape.lastIndex = this.#at = begin;
    if (!numberShape.test(this.#text)) this.#malformed("a number");
    this.#requireExact(this.#text.slice(begin, numberShape.lastIndex));
    this.#at = numberShape.lastIndex;
  }

  #requireExact(literal: string): void {
    const value = Number(literal);
    // 1e20 is refused too: the response would contain an integer literal, which the client could not send back.
    if (!Number.isSafeInteger(value) && (isIntegerLiteral(literal) || isIntegerLiteral(String(value)))) {
      this.#refuse("NUMBER_OUT_OF_RANGE", "is an integer outside ±9007199254740991: use a string instead");
    }
    if (!Number.isFinite(value))
      this.#refuse("NUMBER_OUT_OF_RANGE", "is too large: the largest number is about 1.8e308");
    if (value === 0 && /[1-9]/.test(literal.replace(/[eE].*/, ""))) {
      this.#refuse("NUMBER_OUT_OF_RANGE", "is too small: it would be stored as 0");
    }
  }

  #literal(): void {
    const word = literals.find((literal) => this.#text.startsWith(literal, this.#at));
    if (word === undefined) this.#malformed("a JSON value");
    this.#at += word.length;
  }

  #skipDigits(): void {
    while (isDigit(this.#code())) this.#at++;
  }

  #skipSpace(): void {
    while (isSpace(this.#code())) this.#at++;
  }

  /** If this code is next after white space, moves past it and returns true. */
  #take(code: number): boolean {
    this.#skipSpace();
    if (this.#code() !== code) return false;
    this.#at++;
    return true;
  }

  /** The next character code; NaN at the end. */
  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #malformed(expected: string): never {
    const found =
      this.#at < this.#text.length ? JSON.stringify(charAt(this.#text, this.#at)) : "the end of the text";
    throw new Problem(
      "MALFORMED_JSON",
      `${wholeBody} is not valid JSON: expected ${expected} at ${this.#place()}, but found ${found}.`,
    );
  }

  #malformedString(begin: number): never {
    this.#at = begin;
    throw new Problem(
      "MALFORMED_JSON",
      `${wholeBody} is not valid JSON: the string at ${this.#place()} is not closed, or contains an invalid escape or a control character.`,
    );
  }

  #tooLarge(): never {
    const { depth, members } = this.#limits;
    return this.#refuse(
      "BODY_TOO_DEEP",
      `exceeds the limit of ${depth} levels of nesting, or of ${members} members in one object`,
    );
  }

  #refuse(code: ProblemCode, detail: string): never {
    const pointer = toFragment(this.#path);
    throw new Problem(code, `${subjectAt(pointer, wholeBody)} ${detail} (${this.#place()}).`, {
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

/** The code of the violation, by the code of the problem. */
const violationCodes: Partial<Record<ProblemCode, string>> = {
  DUPLICATE_MEMBER: "duplicateMember",
  NUMBER_OUT_OF_RANGE: "numberRange",
  INVALID_STRING: "string",
  BODY_TOO_DEEP: "limits",
};

const literals = ["true", "false", "null"];

function isSpace(code: number): boolean {
  return code === space || code === 0x0a || code === 0x0d || code === 0x09;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/** `.`, `e` or `E`, which can follow the digits of a number that is not an integer. */
function isFraction(code: number): boolean {
  return code === 0x2e || code === 0x65 || code === 0x45;
}

function charAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function isIntegerLiteral(text: string): boolean {
  return /^-?[0-9]+$/.test(text);
}
