/** Every word is spelt as British English spells it, or is in `words.txt`. */
import { readFileSync } from "node:fs";
import { codeMark, type Prose } from "../markdown.ts";

/** The words that are added to the dictionary. */
export const wordsFile = "test/pages/rules/words.txt";

/** A word of a text. */
export interface Word {
  place: string;
  word: string;
}

/** Neither parts of addresses, files and names in code, nor abbreviations. */
const pattern = new RegExp(
  `(?<![\\w${codeMark}./@:~-])[A-Za-z]{3,}(?:['’][a-z]+)?(?![\\w${codeMark}/@]|[.:]\\w)`,
  "g",
);
const isName = (text: string) => /[a-z][A-Z]|^[A-Z]+s?$/.test(text);

/** The words of texts that the dictionary should know. */
export function wordsIn(prose: readonly Prose[]): Word[] {
  return prose.flatMap(({ place, text }) =>
    Array.from(text.matchAll(pattern), ([word]) => ({ place, word: word.replace("’", "'") })).filter(
      ({ word }) => !isName(word),
    ),
  );
}

/** Finds the words that the dictionary does not know, each with the most similar word if there is one. It takes half a second to begin. */
export async function unknownIn(words: Iterable<string>): Promise<Map<string, string | undefined>> {
  const { default: nspell } = await import("nspell");
  const { default: dictionary } = await import("dictionary-en-gb");
  const spelling = nspell({ aff: Buffer.from(dictionary.aff), dic: Buffer.from(dictionary.dic) });
  for (const word of addedWords()) spelling.add(word);
  const isKnown = (word: string) =>
    [word, word.toLowerCase(), word.replace(/'s$/, "")].some((each) => spelling.correct(each));
  return new Map(
    [...words].filter((word) => !isKnown(word)).map((word) => [word, spelling.suggest(word)[0]]),
  );
}

/** The faults of `words.txt`: a word that stands twice or not in its order. */
export function faultsOfAdded(words = addedWords()): string[] {
  return words.flatMap((word, n) => {
    const before = words[n - 1];
    if (before === undefined || before < word) return [];
    const why = before === word ? "is there twice: remove one" : `comes before "${before}": move it up`;
    return [`${wordsFile}:${n + 1}: "${word}" ${why}`];
  });
}

function addedWords(): string[] {
  return readFileSync(wordsFile, "utf8").trimEnd().split("\n");
}
