/**
 * The words of full-text search, and the building of an index of them in steps. The first step is part of the transaction that
 * declares the index. Each later step has its own transaction. Both stores use these steps.
 */
import { type Path, valueAt } from "../../collection/paths.ts";
import { Problem } from "../../errors.ts";
import { createSplitting, wordsOf, wordsVersion } from "../../query/words.ts";
import { type Decision, lookUp } from "./decision.ts";

/** The warning that the search words are built again, because another version of the service built them differently. */
export const wordsAreSplitAgain =
  "This version splits texts into search words differently. The service now builds the search words again. Until it has finished, requests with q get 503.";

/** The problem of a search before the search words of the collection are complete. */
export function wordsIncomplete(): Problem {
  return new Problem("UNAVAILABLE", "The search index of the collection is not complete yet. Try again.");
}

/** The search index of one collection, in an open transaction. The keys are those of the store's tables. */
export interface SearchIndex<Key> {
  /** Removes all words, and notes that the index has words of this version. Returns a key before all keys. */
  clear(): Key | Promise<Key>;
  /** The sizes of resources after a key, in the order of keys, in bytes. */
  sizesAfter(key: Key, limit: number): readonly number[] | Promise<readonly number[]>;
  /** Resources after a key, in the order of keys. No other write can change them until the transaction ends. */
  resourcesAfter(key: Key, limit: number): readonly Keyed<Key>[] | Promise<readonly Keyed<Key>[]>;
  /** Adds the words of the resources, and notes that the index is built from `from` to `to`. `null`: it is complete. */
  add(resources: readonly Keyed<Key>[], built: { from: Key; to: Key | null }): void | Promise<void>;
}

/** A resource with its key. */
export interface Keyed<Key> {
  key: Key;
  text: string;
}

/** The most that one step reads, but always one resource. Other writes wait until the step is over. */
const slice = { resources: 500, bytes: 256 * 1024 };

/** The pause between two steps, in milliseconds. */
export const buildPauseMs = 2;

/** Clears the index and takes the first step. This step completes the index of a small collection. */
export function* startIndex<Key>(): Decision<SearchIndex<Key>, void> {
  yield* indexSlice(yield* lookUp((index: SearchIndex<Key>) => index.clear()));
}

/**
 * Takes the next step of an index that is built up to the key `to`, also after a restart. If the index has the words of
 * another version (`version`), this clears it instead.
 */
export function* continueIndex<Key>(version: string, to: Key | null): Decision<SearchIndex<Key>, void> {
  if (version === wordsVersion && to !== null) yield* indexSlice<Key>(to);
  else yield* lookUp((index: SearchIndex<Key>) => index.clear());
}

function* indexSlice<Key>(from: Key): Decision<SearchIndex<Key>, void> {
  const limit = limitOf(yield* lookUp((index: SearchIndex<Key>) => index.sizesAfter(from, slice.resources)));
  const resources = yield* lookUp((index: SearchIndex<Key>) => index.resourcesAfter(from, limit));
  const to = resources.length < limit ? null : (resources.at(-1)?.key ?? null);
  yield* lookUp((index: SearchIndex<Key>) => index.add(resources, { from, to }));
}

function limitOf(sizes: readonly number[]): number {
  let bytes = 0;
  for (const [n, size] of sizes.entries()) {
    bytes += size;
    if (bytes > slice.bytes) return n + 1;
  }
  return slice.resources;
}

/** The words in the attributes at the paths, in their order. The attributes are strings or arrays of strings. */
export function searchedWords(text: string, paths: readonly Path[]): string[] {
  const resource: Record<string, unknown> = JSON.parse(text);
  const splitting = createSplitting();
  return paths
    .flatMap((path) => valueAt(resource, path))
    .filter((value) => typeof value === "string")
    .flatMap((value) => wordsOf(value, splitting));
}

/**
 * The words of a query that a store must look for. A word is left out if it is repeated, or if another word starts with it:
 * a text with a word that starts with "abc" also has one that starts with "ab".
 */
export function withoutImpliedWords(words: readonly string[]): readonly string[] {
  const distinct = [...new Set(words)];
  return distinct.filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)));
}
