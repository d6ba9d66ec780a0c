/** Pages and messages are in plain English: without the phrases of `plain-words.ts`, and in sentences that are not long. */
import type { Prose } from "../markdown.ts";
import { avoided, longestSentence } from "./plain-words.ts";

/** The faults of a text. Quotations are left out. */
export function faultsOfProse({ place, text }: Prose): string[] {
  const unquoted = text.replaceAll(/"[^"]*"/g, "□");
  const phrases = avoided.flatMap(({ pattern, instead }) =>
    Array.from(
      unquoted.matchAll(new RegExp(pattern, "gi")),
      ([found]) => `${place}: ${JSON.stringify(found)}: write ${instead}`,
    ),
  );
  const long = lengthsOf(unquoted).filter((words) => words > longestSentence);
  return [
    ...phrases,
    ...long.map((words) => `${place}: a sentence of ${words} words: write at most ${longestSentence}`),
  ];
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/** The numbers of words of the sentences. */
function lengthsOf(text: string): number[] {
  return Array.from(
    sentences.segment(text),
    ({ segment }) => segment.match(/[\p{L}\p{N}□][^\s]*/gu)?.length ?? 0,
  );
}
