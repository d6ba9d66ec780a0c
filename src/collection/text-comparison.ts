/** How texts are compared. Every store must compare them in the same way. */

const firstSurrogate = 0xd800;
const afterSurrogates = 0xe000;

/** Compares texts by code point. `<` compares UTF-16 units, which puts 😀 before U+FFFD. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB);
  }
  return a.length - b.length;
}

/** A surrogate belongs to a code point above U+FFFF, so it sorts after all other units. */
function codePointRank(unit: number): number {
  if (unit < firstSurrogate) return unit;
  return unit < afterSurrogates ? unit + 0x2000 : unit - 0x800;
}

/** The text with ASCII letters in lower case. All other characters stay the same. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The first code points of a text. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let n = 0; n < count && end < text.length; n++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
