/** JSON as users write it. Refuses what `JSON.parse` would change in silence: repeated names and numbers that it rounds. */

/** What is wrong with a text, and where. */
interface TextProblem {
  message: string;
  /** The offset in the text. */
  at: number;
  /** The line, from 1. */
  line: number;
}

/** A text as a JSON value, or what is wrong with it. */
export type ReadText = { value: unknown; problem?: never } | { problem: TextProblem };

/** The deepest nesting. The service takes 64 levels. */
const maxDepth = 64;

export function readJson(text: string): ReadText {
  const reader = new Reader(text);
  try {
    reader.readAll();
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    const line = text.slice(0, error.at).split("\n").length;
    return { problem: { message: error.message, at: error.at, line } };
  }
}

export function readJsonObject(text: string): ReadText {
  const read = readJson(text);
  if (read.problem !== undefined) return read;
  const { value } = read;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return read;
  return { problem: { message: "A resource is an object, such as {}.", at: 0, line: 1 } };
}

class Wrong extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): void {
    this.#space();
    this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#wrong("The JSON value ends here, but more text follows.");
  }

  #value(depth: number): void {
    const next = this.#text[this.#at];
    if (next === undefined) throw this.#wrong("The text ends where a value should be.");
    if (next === "{" || next === "[") {
      if (depth === maxDepth) throw this.#wrong(`The value has more than ${maxDepth} levels.`);
      this.#at++;
      if (next === "{") this.#members(depth + 1);
      else this.#elements(depth + 1);
    } else if (next === '"') this.#string();
    else if (/[-0-9.+]/.test(next)) this.#number();
    else this.#word(next);
  }

  #word(next: string): void {
    const word = this.#match(/[^\s,:{}[\]"]+/y) ?? "";
    if (!["true", "false", "null"].includes(word))
      throw new Wrong(
        word === ""
          ? `"${next}" is not expected here.`
          : `${word.slice(0, 40)} is not a value. Put texts in quotes.`,
        this.#at - word.length,
      );
  }

  #members(depth: number): void {
    const names = new Set<string>();
    this.#space();
    if (this.#take("}")) return;
    for (;;) {
      this.#space();
      const start = this.#at;
      if (this.#text[start] !== '"') throw this.#wrong("A name in double quotes should be here.");
      const name = this.#string();
      if (names.has(name)) throw new Wrong(`The name "${name.slice(0, 60)}" occurs twice.`, start);
      names.add(name);
      this.#space();
      if (!this.#take(":")) throw this.#wrong("A colon is missing.");
      this.#space();
      this.#value(depth);
      this.#space();
      if (this.#take("}")) return;
      if (!this.#take(",")) throw this.#wrong("A comma or } is missing.");
    }
  }

  #elements(depth: number): void {
    this.#space();
    if (this.#take("]")) return;
    for (;;) {
      this.#space();
      this.#value(depth);
      this.#space();
      if (this.#take("]")) return;
      if (!this.#take(",")) throw this.#wrong("A comma or ] is missing.");
    }
  }

  #string(): string {
    const start = this.#at;
    for (let at = start + 1; ; at++) {
      const next = this.#text[at];
      if (next === undefined || next === "\n") throw new Wrong("The closing quote is missing.", start);
      if (next === "\\") at++;
      else if (next === '"') {
        this.#at = at + 1;
        return this.#decode(start, at + 1);
      }
    }
  }

  #decode(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end)) as string;
    } catch {
      throw new Wrong("This text has an invalid escape or a control character.", start);
    }
  }

  #number(): void {
    const start = this.#at;
    const text = this.#match(/[-+0-9.eE]+/y) ?? "";
    const problem = numberProblem(text);
    if (problem !== undefined) throw new Wrong(problem, start);
  }

  #space(): void {
    this.#match(/[ \t\r\n]*/y);
  }

  #take(mark: string): boolean {
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #wrong(message: string): Wrong {
    return new Wrong(message, this.#at);
  }
}

/** Why a text is not a number that can be stored as written; `undefined` if it can. */
export function numberProblem(text: string): string | undefined {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text))
    return "Write a number, such as 12 or 0.5.";
  const value = Number(text);
  if (!Number.isFinite(value)) return `${text} is too large.`;
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21)
    return `${text} is beyond 2^53 − 1. The service refuses it, because programs would round it. Send it as a text.`;
  if (canonical(text) !== canonical(String(value)))
    return `${text} has more digits than a number can keep. It would become ${value}.`;
  return undefined;
}

/** The digits and the exponent of a number, in one form. `1.0`, `1` and `10e-1` are equal. */
function canonical(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign}${kept}e${Number(exponent) - fraction.length + (digits.length - kept.length)}`;
}
