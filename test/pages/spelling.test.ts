/** Every word of the pages and of the program's messages is spelt as British English spells it, or is in `words.txt`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import dictionary from "dictionary-en-gb";
import nspell from "nspell";
import { codeMark, type Prose, pageFiles, parsePage, proseOf, readPage } from "./markdown.ts";
import { messagesOf } from "./messages.ts";

const words = "test/pages/words.txt";

const spelling = nspell({
  aff: Buffer.from(dictionary.aff),
  dic: Buffer.from(dictionary.dic),
});
for (const line of readFileSync(words, "utf8").split("\n")) if (line !== "") spelling.add(line);

test("every word of every page is spelt right", () => {
  const prose = pageFiles.flatMap((file) => proseOf(readPage(file)));
  assert.ok(prose.length > 1_000, `${prose.length} texts`);
  assertSpelt(prose);
});

test("every word of the program's messages, helps and descriptions is spelt right", () => {
  const messages = messagesOf();
  assert.ok(messages.length > 500, `${messages.length} texts`);
  assertSpelt(messages);
});

test("the words that are added are in order, and each is there once", () => {
  const added = readFileSync(words, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    added,
    [...new Set(added)].toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test("a misspelt word and an American one are found, and code is left out", () => {
  const page =
    "A recieved colour.\n\n| Its `recieved` color |\n|---|\n| behavior's |\n\n```sh\nrecieve\n```\n";
  assert.deepEqual(
    proseOf(parsePage("a page", page))
      .flatMap(unknownIn)
      .map(({ place, word }) => `${place} ${word}`),
    ["a page:1 recieved", "a page:3 color", "a page:5 behavior's"],
  );
});

function assertSpelt(prose: readonly Prose[]): void {
  const unknown = prose.flatMap(unknownIn);
  const lines = unknown.map(({ place, word }) => `  ${place}: ${word}${suggest(word)}`);
  assert.equal(
    unknown.length,
    0,
    `${unknown.length} unknown words. Correct them (British spelling). Write code in backticks. Add a name or a term to ${words}, in order:\n${lines.join("\n")}`,
  );
}

/** Neither parts of addresses, files and names in code, nor abbreviations. */
const word = new RegExp(
  `(?<![\\w${codeMark}./@:~-])[A-Za-z]{3,}(?:['’][a-z]+)?(?![\\w${codeMark}/@]|[.:]\\w)`,
  "g",
);
const isName = (text: string) => /[a-z][A-Z]|^[A-Z]+s?$/.test(text);

function unknownIn({ place, text }: Prose): { place: string; word: string }[] {
  return Array.from(text.matchAll(word), ([found]) => found.replace("’", "'"))
    .filter((found) => !isName(found) && !isKnown(found))
    .map((found) => ({ place, word: found }));
}

function isKnown(found: string): boolean {
  return [found, found.toLowerCase(), found.replace(/'s$/, "")].some((each) => spelling.correct(each));
}

function suggest(found: string): string {
  const [first] = spelling.suggest(found);
  return first === undefined ? "" : ` (${first}?)`;
}
