/**
 * Splits texts into words for full-text search.
 *
 * The service splits the searched texts and the query in the same way, and stores keep the words. A store compares only
 * code points and does not know languages, so every store finds the same resources.
 */
import { fold, foldText } from "../collection/folding.ts";

/**
 * The version of the result of `wordsOf`. If the version of a store differs, the store must compute its words again.
 * Increase the number with every change.
 */
export const wordsVersion = `2, Unicode ${process.versions.unicode}`;

/** The number of code points of a word that count. */
export const maxWordLength = 64;

/** One word. Each Chinese character and each kana is a word. */
const word =
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]&&[\p{L}\p{N}]]\p{M}*|[[\p{L}\p{M}\p{N}]--[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]&&[\p{L}\p{N}]]]+/gv;

/** Scripts without spaces between words. Only a dictionary can find their words. */
const withoutBlanks = /[\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/v;
const runs =
  /[\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+|[^\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+/gv;

/** The most characters of one resource that the dictionary splits. This takes about 10 ms. The rest stays unsplit. */
const maxSplit = 20_000;

/** The number of characters that the dictionary can still split. */
export interface Splitting {
  left: number;
}

/** The limit for one text, or for all texts of a resource together. */
export function createSplitting(): Splitting {
  return { left: maxSplit };
}

/** A character of a word. */
const partOfWord = /[\p{L}\p{M}\p{N}]/v;

/**
 * Signs that count at the beginning and the end of a word: those of mathematics and of currencies, and a few others. All others only
 * separate words, such as commas, quotes and hyphens.
 */
const sign = /[\p{Sm}\p{Sc}#*@\&%]/v;

/** What a search looks for. */
export interface SearchTerms {
  /** Each begins a word. */
  beginnings: readonly string[];
  /** Each is a word. */
  whole: readonly string[];
  /** Each occurs in a folded text (`foldText`). The words in it are above. */
  literals: readonly string[];
}

/**
 * The terms of a search: its words, and folded texts with signs at the beginning or the end, such as `c++` and `.net`. A piece without a
 * letter or a digit is ignored.
 */
export function termsOf(search: string): string[] {
  const literals: string[] = [];
  const others = search.split(/[\s\p{Z}]+/v).map((piece) => {
    const literal = foldText(withoutPunctuation(piece));
    const [first = "", last = ""] = [literal.at(0), literal.at(-1)];
    if (![first, last].some((each) => each === "." || sign.test(each)) || !partOfWord.test(literal))
      return piece;
    literals.push(literal);
    return "";
  });
  return [...new Set([...wordsOf(others.join(" ")), ...literals])];
}

/** A piece from its first to its last letter, digit or sign. A single full stop before a word counts too, as in `.net`. */
function withoutPunctuation(piece: string): string {
  const characters = [...piece];
  const counts = (each: string | undefined) =>
    each !== undefined && (partOfWord.test(each) || sign.test(each));
  const first = characters.findIndex(counts);
  const isDotted =
    characters[first - 1] === "." && characters[first - 2] !== "." && !sign.test(characters[first] ?? "");
  return characters.slice(isDotted ? first - 1 : first, characters.findLastIndex(counts) + 1).join("");
}

/** What the terms of a search ask for. Without terms, nothing. */
export function readTerms(terms: readonly string[]): SearchTerms {
  const isLiteral = (term: string) => [...term].some((each) => !partOfWord.test(each));
  const literals = terms.filter(isLiteral);
  const beginnings = terms.filter((term) => !isLiteral(term));
  const whole: string[] = [];
  for (const literal of literals) {
    const words = wordsOf(literal);
    const last = words.at(-1);
    // In a text, a dictionary can find other words.
    if (withoutBlanks.test(literal)) beginnings.push(...words);
    else if (last !== undefined && literal.endsWith(last)) {
      beginnings.push(last);
      whole.push(...words.slice(0, -1));
    } else whole.push(...words);
  }
  return { beginnings, whole, literals };
}

let dictionary: Intl.Segmenter | undefined;

/** The dictionaries are the same in every locale (https://unicode-org.github.io/icu/userguide/boundaryanalysis/). */
function segmentsOf(run: string): Intl.Segments {
  dictionary ??= new Intl.Segmenter("en", { granularity: "word" });
  return dictionary.segment(run);
}

/**
 * The words of a text in their order: runs of letters and digits with their marks, in lower case. Latin letters become
 * ASCII without accents (`Łódź` is `lodz`). Each Chinese character and each kana is a word. A dictionary splits texts in
 * Thai, Lao, Khmer and Burmese. Splitting a word again returns the same word.
 */
export function wordsOf(text: string, splitting: Splitting = createSplitting()): string[] {
  // Most texts are ASCII. This takes a tenth of the time.
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

/** Splits each part again until nothing changes, because the dictionary can split a word differently beside other words. */
function splitByDictionary(run: string): string[] {
  const segments = [...segmentsOf(run)].map(({ segment }) => segment);
  return segments.length > 1 ? segments.flatMap(splitByDictionary) : segments;
}

/** Normalization decomposes the vowel AM of Thai and Lao, but the dictionary contains it as one letter. */
function composed(text: string): string {
  return text.replaceAll("\u0e4d\u0e32", "\u0e33").replaceAll("\u0ecd\u0eb2", "\u0eb3");
}

function cut(found: string): string {
  if (found.length <= maxWordLength) return found;
  return [...found.slice(0, 2 * maxWordLength)].slice(0, maxWordLength).join("");
}
