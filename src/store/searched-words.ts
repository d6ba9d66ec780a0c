/** The words that a resource is found by. */
import type { Path } from "../collection/paths.ts";
import { valueAt } from "../collection/paths.ts";
import { createSplitting, wordsOf } from "../query/words.ts";

/** The words of strings at the paths, and of strings in arrays there, in their order. */
export function searchedWords(text: string, paths: readonly Path[]): string[] {
  const resource: Record<string, unknown> = JSON.parse(text);
  const splitting = createSplitting();
  return paths
    .flatMap((path) => valueAt(resource, path))
    .filter((value) => typeof value === "string")
    .flatMap((value) => wordsOf(value, splitting));
}

/** Those of the words looked for that decide: who has a word that begins with "abc" has one that begins with "ab". */
export function tellingWords(words: readonly string[]): readonly string[] {
  const asked = [...new Set(words)];
  return asked.filter((word) => !asked.some((other) => other !== word && other.startsWith(word)));
}

/** Says that the words of a store are split again, since another version of the program split them. */
export const wordsAreSplitAgain =
  "This version splits texts into search words differently. The service now builds the search words again. Until it has finished, requests with q get 503.";
