/** Finds the members of a json-server database: one JSON object, whose members are lists of resources. */
import { Tokenizer, TokenType } from "@streamparser/json";
import { StartError } from "../../errors.ts";
import { requireUtf8 } from "../../import/items.ts";

/** A member of the database. */
export interface Member {
  name: string;
  /** The line in which the value starts. */
  line: number;
  /** In json-server, an `object` is a single resource. The text of a `list` is not checked. */
  kind: "list" | "object" | "other";
  text: Buffer;
}

/**
 * The members of a database, without `$schema`, which is for editors. Throws StartError if the bytes are not one JSON object
 * or if a name occurs twice. `file` names the database in messages.
 */
export function readDatabase(bytes: Buffer, file: string): readonly Member[] {
  requireUtf8(bytes);
  const members = new MemberReader(bytes, file).read();
  const names = members.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined)
    throw new StartError(`${file} has the member ${JSON.stringify(repeated)} twice.`);
  return members.filter(({ name, kind }) => name !== "$schema" || kind === "list");
}

/** What must come next between members. */
type Expected = "object" | "name or end" | "name" | "colon" | "value" | "comma or end" | "nothing";

const { LEFT_BRACE, RIGHT_BRACE, LEFT_BRACKET, RIGHT_BRACKET, COLON, COMMA, STRING } = TokenType;
const punctuation: readonly TokenType[] = [RIGHT_BRACE, RIGHT_BRACKET, COLON, COMMA, TokenType.SEPARATOR];

/** What must come after a token; `undefined` if the token is not the expected one. */
const following: Readonly<Record<Expected, (token: TokenType) => Expected | undefined>> = {
  object: (token) => (token === LEFT_BRACE ? "name or end" : undefined),
  "name or end": (token) => (token === RIGHT_BRACE ? "nothing" : following.name(token)),
  name: (token) => (token === STRING ? "colon" : undefined),
  colon: (token) => (token === COLON ? "value" : undefined),
  value: (token) => (punctuation.includes(token) ? undefined : "comma or end"),
  "comma or end": (token) => (token === RIGHT_BRACE ? "nothing" : token === COMMA ? "name" : undefined),
  nothing: () => undefined,
};

class MemberReader {
  readonly #bytes: Buffer;
  readonly #file: string;
  readonly #members: Member[] = [];
  #expected: Expected = "object";
  /** The nesting depth inside a list or object; 0 between members. */
  #depth = 0;
  #name = "";
  #kind: Member["kind"] = "other";
  #start = 0;
  #lastOffset = 0;
  /** Where the first error is. */
  #fault: string | undefined;
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
    return this.#members;
  }

  #take(token: TokenType, value: string, offset: number): void {
    this.#lastOffset = offset;
    if (this.#depth === 0) {
      const next = following[this.#expected](token);
      if (next === undefined) this.#fault = `on line ${this.#lineOf(offset)}`;
      if (next === "colon") this.#name = value;
      if (next !== "comma or end") {
        this.#expected = next ?? this.#expected;
        return;
      }
      this.#expected = next;
      this.#kind = token === LEFT_BRACKET ? "list" : token === LEFT_BRACE ? "object" : "other";
      this.#start = offset;
    }
    if (token === LEFT_BRACE || token === LEFT_BRACKET) this.#depth++;
    if (token === RIGHT_BRACE || token === RIGHT_BRACKET) this.#depth--;
    if (this.#depth > 0) return;
    const text = this.#bytes.subarray(this.#start, offset + 1);
    this.#members.push({ name: this.#name, line: this.#lineOf(this.#start), kind: this.#kind, text });
  }

  /** The line at an offset. The offsets of the calls must increase. */
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
