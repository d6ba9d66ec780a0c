/** The words of full-text search: those of a resource, and those of a query. */
import { type Path, valueAt } from "../../collection/paths.ts";
import type { Attributes } from "../../collection/resource.ts";
import { Problem } from "../../errors.ts";
import { createSplitting, readTerms, type SearchTerms, wordsOf } from "../../query/search-words.ts";

/** The warning that the search words are built again, because another version of the service built them differently. */
export const wordsAreSplitAgain =
  "This version splits texts into search words differently. The service now builds the search words again. Until it has finished, requests with q get 503.";

/** The problem of a search before the search words of the collection are complete. */
export function wordsIncomplete(): Problem {
  return new Problem("UNAVAILABLE", "The search index of the collection is not complete yet. Try again.");
}

/** The words in the attributes at the paths, in their order. The attributes are strings or arrays of strings. */
export function searchedWords(resource: Attributes, paths: readonly Path[]): string[] {
  const splitting = createSplitting();
  return paths
    .flatMap((path) => valueAt(resource, path))
    .filter((value) => typeof value === "string")
    .flatMap((value) => wordsOf(value, splitting));
}

/**
 * What a store must look for. A beginning of a word is left out if it is repeated, or if another term implies it: a text with a word that
 * starts with "abc" also has one that starts with "ab".
 */
export function searchFor(terms: readonly string[]): SearchTerms {
  const { beginnings, whole, literals } = readTerms(terms);
  const distinct = [...new Set(beginnings)];
  const isImplied = (word: string) =>
    distinct.some((other) => other !== word && other.startsWith(word)) ||
    whole.some((other) => other.startsWith(word));
  return { beginnings: distinct.filter((word) => !isImplied(word)), whole: [...new Set(whole)], literals };
}
