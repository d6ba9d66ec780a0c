/** The natural order of texts: folded (`collection/folding.ts`), and runs of digits as numbers. Equal ones have the order of their code points. */
import { foldText } from "../collection/folding.ts";
import { firstCodePoints } from "../collection/text-comparison.ts";

/** Ends the folded text. No other character of it is less. */
export const naturalEnd = "\u0001";

/** The character for a number of digits is this many code points after it. A run of a sort has at most 128 digits. */
export const lengthOffset = 31;

/** A text whose code points have the natural order of this text. Only its `length` first code points count. */
export function naturalValue(text: string, length: number): string {
  const start = firstCodePoints(text, length);
  const folded = firstCodePoints(foldText(start), length).replaceAll(naturalEnd, "\u0002");
  return folded.replace(/[0-9]+/g, numberOf) + naturalEnd + start;
}

/** A run of digits without zeros at its start, after the number of its digits. */
function numberOf(run: string): string {
  const digits = run.replace(/^0+(?!$)/, "");
  return `0${String.fromCharCode(lengthOffset + digits.length)}${digits}`;
}
