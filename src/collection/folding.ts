/**
 * How texts are folded, so that people find them in any spelling: in lower case, without accents and width. Full-text search,
 * the operators that end with "i", natural order and unique values fold in this way. A store compares only code points.
 */
import { createRequire } from "node:module";
import { lowerAscii } from "./text-comparison.ts";

/** The version of the results of this file. Stored keys with another version are made again. Increase the number with every change. */
export const foldingVersion = `2, Unicode ${process.versions.unicode}`;

let anyAscii: typeof import("any-ascii").default | undefined;

/** Most texts are ASCII. The table for all others is loaded with the first of them, because it is large. */
function asciiOf(letter: string): string {
  anyAscii ??= (createRequire(import.meta.url)("any-ascii") as typeof import("any-ascii")).default;
  return anyAscii(letter);
}

/**
 * Accents, vowel points and invisible characters. These are not among them: vowel signs of Indic scripts, which readers
 * treat as letters; the two voicing marks of kana, which create other letters; the Greek iota subscript, which upper case turns
 * into a letter; and the zero-width space, which ends a word.
 */
const ignored =
  /[[\p{sc=Inherited}--[\u0345\u3099\u309a]][\p{sc=Hebrew}&&\p{Mn}][\p{Cf}--\u200b]\u00b7\u02bc\u0640]/gv;

/** More marks than any language uses. `normalize` sorts marks in quadratic time: minutes for 1 MiB. */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu;

const latinBeyondAscii = /[\p{sc=Latin}--[a-z]]/gv;

/** Folds a text, or a part of it. */
export function fold(text: string): string {
  const short = withoutIgnored(text).normalize("NFKD");
  // Upper case first, because it turns ß into SS, and both forms of sigma into one.
  const letters = short.toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKD");
  return withoutIgnored(letters).replace(latinBeyondAscii, toAscii).normalize("NFC");
}

function withoutIgnored(text: string): string {
  return text.replace(ignored, "").replace(tooManyMarks, "$1");
}

/** A letter without a form in ASCII stays the same. */
function toAscii(letter: string): string {
  return (
    asciiOf(letter)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, "") || letter
  );
}

/** The characters that `normalize` joins with the character before them, if folding keeps them. As the inside of a class of a regular expression. */
export const joiningCharacters =
  "\u093c\u09be\u09d7\u0b3e\u0b56-\u0b57\u0bbe\u0bd7\u0c56\u0cc2\u0cd5-\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1161-\u1175\u11a8-\u11c2\u1b35\u3099-\u309a\u{110ba}\u{11127}\u{1133e}\u{11357}\u{113b8}\u{113bb}\u{113c2}\u{113c9}\u{114b0}\u{114ba}\u{114bd}\u{115af}\u{11930}\u{1611e}-\u{16120}\u{16129}\u{16d67}";

/** The code points of the longest text in which they are joined. `normalize` takes quadratic time for many marks. */
export const maxJoined = 2_000;

const joining = new RegExp(`[${joiningCharacters}]`, "u");

/** The folded characters, because most texts repeat a few of them. */
const foldedCharacters = new Map<string, string>();

/**
 * The text by which folded texts are compared: each character folded for itself, and then joined with its marks. So a database can
 * fold a text with a table of characters (`foldedTable`).
 */
export function foldText(text: string): string {
  const lower = lowerAscii(text);
  if (/^[\0-\x7f]*$/.test(lower)) return lower;
  const folded = lower.replace(/[^\0-\x7f]/gu, foldCharacter);
  return joining.test(folded) && [...folded].length <= maxJoined ? folded.normalize("NFC") : folded;
}

function foldCharacter(character: string): string {
  const known = foldedCharacters.get(character);
  if (known !== undefined) return known;
  const folded = fold(character);
  if (foldedCharacters.size < 20_000) foldedCharacters.set(character, folded);
  return folded;
}

/** Has all characters that folding changes, and a few others. The rest consists of a character and its marks. */
const canChange =
  /[\p{Changes_When_NFKC_Casefolded}\p{sc=Latin}\p{sc=Inherited}\p{Cf}\p{sc=Hebrew}\p{Lu}\p{Ll}\p{Lt}\u00b7\u02bc\u0640]/v;

/** The blocks with such characters. */
const blocks = [
  [0x80, 0x33ff],
  [0xa000, 0xabff],
  [0xf900, 0x1ffff],
  [0x2f800, 0x2fa1f],
  [0xe0000, 0xe01ff],
] as const;

/** The text without regard to case, in every script. */
export function foldCase(text: string): string {
  // Lower case first: ẞ has no other upper case, but its lower case ß has SS.
  const upper = text.normalize("NFC").toLowerCase().toUpperCase();
  return upper.toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

/** All characters beyond ASCII that folding changes, and what they become. */
export function foldedTable(): { characters: string[]; folded: string[] } {
  const characters: string[] = [];
  const folded: string[] = [];
  for (const [first, last] of blocks)
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code);
      const isFolded = canChange.test(character) || character.normalize("NFD") !== character;
      const now = isFolded ? fold(character) : character;
      if (now === character) continue;
      characters.push(character);
      folded.push(now);
    }
  return { characters, folded };
}
