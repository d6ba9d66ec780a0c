/**
 * Splits texts into words for full-text search.
 *
 * The service splits the searched texts and the query in the same way, and stores keep the words. A store compares only
 * code points and does not know languages, so every store finds the same resources.
 */
import { fold } from "../collection/folding.ts";

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
