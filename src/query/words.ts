/**
 * The words of a text, for full-text search.
 *
 * The texts that are searched and the words that are looked for go through the same function, and stores keep what it
 * gives: a store compares code points and knows nothing of languages, so every store finds the same.
 */
import anyAscii from "any-ascii";

/**
 * Names what `wordsOf` gives, for stores that keep it: under another name, they must make it anew. Raise the number with
 * every change.
 */
export const wordsVersion = `2, Unicode ${process.versions.unicode}`;

/** Code points of a word that count. */
export const maxWordLength = 64;

/** Scripts without blanks between words: each of their letters is a word. */
const word =
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]&&[\p{L}\p{N}]]\p{M}*|[[\p{L}\p{M}\p{N}]--[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]&&[\p{L}\p{N}]]]+/gv;

/** Scripts without blanks between words whose words only a dictionary finds. */
const withoutBlanks = /[\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/v;
const runs =
  /[\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+|[^\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+/gv;

/** Characters of one resource that the dictionary splits: it takes about 10 ms for them. Later ones stay in runs. */
const maxSplit = 20_000;

/** How many characters may still be split by the dictionary. */
export interface Splitting {
  left: number;
}

/** For one text, or for all texts of a resource together. */
export function createSplitting(): Splitting {
  return { left: maxSplit };
}

/** The dictionaries are the same in every language (https://unicode-org.github.io/icu/userguide/boundaryanalysis/). */
const dictionary = new Intl.Segmenter("en", { granularity: "word" });

/**
 * Accents, points of vowels, and characters that cannot be seen. Vowel signs of Indic scripts are letters to a reader,
 * the two voicing marks of kana make other letters, and the Greek iota below becomes one beside in upper case. A
 * zero-width space ends a word.
 */
const ignored =
  /[[\p{sc=Inherited}--[\u0345\u3099\u309a]][\p{sc=Hebrew}&&\p{Mn}][\p{Cf}--\u200b]\u00b7\u02bc\u0640]/gv;

/** No language piles up so many marks, and sorting them takes `normalize` quadratic time: minutes for a mebibyte. */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu;

const latinBeyondAscii = /[\p{sc=Latin}--[a-z]]/gv;

/**
 * Gives the words of a text in their order: runs of letters, digits and the marks that belong to them, in lower case,
 * Latin ones without accents and in ASCII (`Łódź` is `lodz`), other scripts as themselves. Chinese characters and kana
 * are words one by one. Texts in Thai, Lao, Khmer and Burmese are split by a
 * dictionary. The words of words are the words themselves.
 */
export function wordsOf(text: string, splitting: Splitting = createSplitting()): string[] {
  // The usual text, at a tenth of the cost.
  if (/^[\0-\x7f]*$/.test(text)) return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map(cut);
  const folded = fold(text);
  const found = folded.match(word) ?? [];
  return (withoutBlanks.test(folded) ? found.flatMap((each) => splitRuns(each, splitting)) : found).map(cut);
}

function splitRuns(found: string, splitting: Splitting): string[] {
  return (found.match(runs) ?? []).flatMap((run) => {
    if (!withoutBlanks.test(run)) return run;
    const text = composed(run);
    const length = Math.max(0, splitting.left);
    splitting.left -= text.length;
    const rest = text.slice(length);
    return [...splitByDictionary(text.slice(0, length)), ...(rest === "" ? [] : [rest])];
  });
}

/** Splits again what was split, until nothing changes: the words beside a word can change where it is split. */
function splitByDictionary(run: string): string[] {
  const segments = [...dictionary.segment(run)].map(({ segment }) => segment);
  return segments.length > 1 ? segments.flatMap(splitByDictionary) : segments;
}

/** Normalization takes the vowel AM of Thai and Lao apart, but the dictionary has it as one letter. */
function composed(text: string): string {
  return text.replaceAll("\u0e4d\u0e32", "\u0e33").replaceAll("\u0ecd\u0eb2", "\u0eb3");
}

function fold(text: string): string {
  const short = withoutIgnored(text).normalize("NFKD");
  // Through upper case, which writes ß as SS and has one sigma for the two.
  const letters = short.toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKD");
  return withoutIgnored(letters).replace(latinBeyondAscii, toAscii).normalize("NFC");
}

function withoutIgnored(text: string): string {
  return text.replace(ignored, "").replace(tooManyMarks, "$1");
}

/** A letter of which no letter remains in ASCII stays as it is. */
function toAscii(letter: string): string {
  return (
    anyAscii(letter)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, "") || letter
  );
}

function cut(found: string): string {
  if (found.length <= maxWordLength) return found;
  return [...found.slice(0, 2 * maxWordLength)].slice(0, maxWordLength).join("");
}
