/** The words of full-text search: those of a resource, and those of a query. */
import type { Path } from "../collection/paths.ts";
import { valueAt } from "../collection/paths.ts";
import { createSplitting, wordsOf } from "../query/words.ts";

/** The words in the attributes at the paths, in their order. The attributes are strings or arrays of strings. */
export function searchedWords(text: string, paths: readonly Path[]): string[] {
  const resource: Record<string, unknown> = JSON.parse(text);
  const splitting = createSplitting();
  return paths
    .flatMap((path) => valueAt(resource, path))
    .filter((value) => typeof value === "string")
    .flatMap((value) => wordsOf(value, splitting));
}

/** Removes words that are repeated, or that another word begins with: what begins with "abc" also begins with "ab". */
export function withoutImpliedWords(words: readonly string[]): readonly string[] {
  const distinct = [...new Set(words)];
  return distinct.filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)));
}

/** The warning that the search words are built again, because another version of the program has built them differently. */
export const wordsAreSplitAgain =
  "This version splits texts into search words differently. The service now builds the search words again. Until it has finished, requests with q get 503.";
