/** Finds the messages of the program: texts of the source code for people. */
import { globSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { type Token, tokenizer, tokTypes } from "acorn";
import { codeMark, type Prose } from "../markdown.ts";

/** Lists of words that clients of other servers may send, and styles, are no prose. */
const withoutProse = /foreign-[a-z]+\.ts$|html-page\.ts$/;

/** The paths of all files of the source code. */
export const sourceFiles: readonly string[] = globSync("src/**/*.ts").sort();

/** Statements for a database, and HTML, are no prose. */
const isCode =
  /::|^\s*(?:select|insert|update|delete|create|drop|alter|begin|commit|with|pragma|values|set|lock|union|order by|where|from|and|or|on conflict|returning|join|left join|analyze|vacuum|explain)\b(?![^.]*\.$)|<\/?[a-z]|=>|\b(?:select|where|from|and|or) [\w.□]+ ?[=<>]|\(\s*select\b|\bglob\b|\biif\(|=\s*any\(|\bas \w+[,)]|□\.\w|\w\.□/;

const hasWordOfProse = /\b(?:an?|the|is|are|be|not|of|to|in|for|with|and|or|it|no|by|at)\b/i;

/**
 * The literals that look like prose, without the values that the code puts in. A text that the code joins of several
 * literals is several texts.
 */
export function messagesIn(file: string, literals: readonly Literal[]): Prose[] {
  if (withoutProse.test(file)) return [];
  return literals
    .filter(({ text }) => isProse(text))
    .map(({ line, text }) => ({ place: `${file}:${line}`, text: text.replaceAll(/\s+/g, " ").trim() }));
}

function isProse(text: string): boolean {
  const words = text.split(/\s+/).filter((word) => /^\W*[a-z]+\W*$/i.test(word));
  return words.length >= 3 && hasWordOfProse.test(text) && !isCode.test(text);
}

/** A string or a template. */
export interface Literal {
  line: number;
  text: string;
}

/** Every literal of a file. */
export function literalsIn(source: string): Literal[] {
  const script = stripTypeScriptTypes(source); // types become blanks, so lines stay
  const tokens = [...tokenizer(script, { ecmaVersion: "latest", sourceType: "module", locations: true })];
  const literals: Literal[] = [];
  const open: (Literal & { depth: number })[] = [];
  for (const token of tokens) {
    const line = token.loc?.start.line ?? 0;
    if (token.type === tokTypes.string) literals.push({ line, text: contentOf(token) });
    if (token.type === tokTypes.template) {
      const current = open.at(-1);
      if (current !== undefined)
        current.text += current.text === "" ? contentOf(token) : codeMark + contentOf(token);
    }
    if (token.type === tokTypes.backQuote) {
      const current = open.at(-1);
      if (current?.depth === 0) literals.push(open.pop() as Literal);
      else open.push({ line, text: "", depth: 0 });
    }
    const inner = open.at(-1);
    if (inner !== undefined && token.type === tokTypes.dollarBraceL) inner.depth++;
    else if (inner !== undefined && inner.depth > 0 && token.type === tokTypes.braceL) inner.depth++;
    else if (inner !== undefined && inner.depth > 0 && token.type === tokTypes.braceR) inner.depth--;
  }
  return literals;
}

function contentOf(token: Token & { value?: unknown }): string {
  return String(token.value ?? "");
}
