/** Finds the collections in a json-server database: one JSON object, whose members are lists of resources. */
import { Tokenizer, TokenType } from "@streamparser/json";
import { StartError } from "../../errors.ts";
import { requireUtf8 } from "./input.ts";

/** A member of the object. */
export interface Member {
  name: string;
  /** Where the value begins. */
  line: number;
  value: MemberValue;
}

/** The value of a member. The items in the text of a list are not checked yet. An object is a singular resource of json-server. */
export type MemberValue = { kind: "list"; text: Buffer } | { kind: "object" } | { kind: "other" };

/**
 * The members of a database, but for `$schema`, which editors read. Throws StartError when the bytes are not one JSON
 * object, or a name is there twice; `file` is what it calls them.
 */
export function readDatabase(bytes: Buffer, file: string): readonly Member[] {
  requireUtf8(bytes);
  const members = new Members(bytes, file).read();
  const names = members.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined)
    throw new StartError(`${file} has the member ${JSON.stringify(repeated)} twice.`);
  return members.filter(({ name, value }) => name !== "$schema" || value.kind === "list");
}

type Expected = "object" | "name or end" | "name" | "colon" | "value" | "comma or end" | "nothing";

class Members {
  readonly #bytes: Buffer;
  readonly #file: string;
  readonly #found: Member[] = [];
  #expected: Expected = "object";
  #name = "";
  /** How deep in a member's value we are; 0 between values. */
  #depth = 0;
  #valueBegin = 0;
  #isList = false;
  /** Where in the input something is wrong. */
  #fault: string | undefined;
  #lastOffset = 0;
  #line = 1;
  #countedTo = 0;

  constructor(bytes: Buffer, file: string) {
    this.#bytes = bytes;
    this.#file = file;
  }

  read(): Member[] {
    const tokenizer = new Tokenizer();
    tokenizer.onToken = ({ token, value, offset }) => {
      if (this.#fault === undefined) this.#take(token, String(value), offset);
    };
    tokenizer.onError = () => {
      this.#fault ??= `after line ${this.#lineOf(this.#lastOffset)}`;
    };
    tokenizer.write(this.#bytes);
    if (this.#expected !== "nothing") this.#fault ??= `on line ${this.#lineOf(this.#bytes.length)}`;
    if (this.#fault !== undefined) throw this.#refusal(this.#fault);
    return this.#found;
  }

  #take(token: TokenType, value: string, offset: number): void {
    this.#lastOffset = offset;
    if (this.#depth > 0) {
      this.#takeInside(token, offset);
      return;
    }
    const next = this.#next(token);
    if (next === undefined) {
      this.#fault = `on line ${this.#lineOf(offset)}`;
      return;
    }
    if (this.#expected === "name" || this.#expected === "name or end") this.#name = value;
    if (this.#expected === "value") this.#beginValue(token, offset);
    this.#expected = next;
  }

  /** What comes after a token at the level of the object itself; `undefined` when it must not be there. */
  #next(token: TokenType): Expected | undefined {
    const nexts: Readonly<Record<Expected, (token: TokenType) => Expected | undefined>> = {
      object: (each) => (each === TokenType.LEFT_BRACE ? "name or end" : undefined),
      "name or end": (each) =>
        each === TokenType.RIGHT_BRACE ? "nothing" : each === TokenType.STRING ? "colon" : undefined,
      name: (each) => (each === TokenType.STRING ? "colon" : undefined),
      colon: (each) => (each === TokenType.COLON ? "value" : undefined),
      value: (each) => (isValue(each) ? "comma or end" : undefined),
      "comma or end": (each) =>
        each === TokenType.RIGHT_BRACE ? "nothing" : each === TokenType.COMMA ? "name" : undefined,
      nothing: () => undefined,
    };
    return nexts[this.#expected](token);
  }

  #beginValue(token: TokenType, offset: number): void {
    this.#isList = token === TokenType.LEFT_BRACKET;
    this.#valueBegin = offset;
    if (this.#isList || token === TokenType.LEFT_BRACE) this.#depth = 1;
    else this.#add({ kind: "other" });
  }

  #takeInside(token: TokenType, offset: number): void {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) this.#depth++;
    if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.#depth--;
    if (this.#depth > 0) return;
    const text = this.#bytes.subarray(this.#valueBegin, offset + 1);
    this.#add(this.#isList ? { kind: "list", text } : { kind: "object" });
  }

  #add(value: MemberValue): void {
    this.#found.push({ name: this.#name, line: this.#lineOf(this.#valueBegin), value });
  }

  #lineOf(offset: number): number {
    for (
      let at = this.#bytes.indexOf(10, this.#countedTo);
      at !== -1 && at < offset;
      at = this.#bytes.indexOf(10, at + 1)
    ) {
      this.#line++;
      this.#countedTo = at + 1;
    }
    return this.#line;
  }

  #refusal(place: string): StartError {
    if (this.#expected !== "object")
      return new StartError(
        `${this.#file} is not valid JSON: there is an error ${place}. If it is NDJSON, name its collection: npx holdfast import <collection> ${this.#file}`,
      );
    return new StartError(
      `${this.#file} is not a json-server database (a JSON object of lists). To import a list of resources, name ` +
        `its collection: npx holdfast import <collection> ${this.#file}`,
    );
  }
}

function isValue(token: TokenType): boolean {
  return ![
    TokenType.RIGHT_BRACE,
    TokenType.RIGHT_BRACKET,
    TokenType.COMMA,
    TokenType.COLON,
    TokenType.SEPARATOR,
  ].includes(token);
}
