/** What somebody may have meant. */
import { closest, distance } from "fastest-levenshtein";

/** Longer names are not compared: the distance takes time that grows with both lengths. */
const maxLength = 64;

/** The candidate that a misspelled name is near to, or `undefined` when none is. */
export function nearestTo(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > maxLength || candidates.length === 0) return undefined;
  const nearest = closest(name.toLowerCase(), candidates as string[]);
  const edits = distance(name.toLowerCase(), nearest.toLowerCase());
  return edits <= Math.max(1, Math.floor(name.length / 3)) ? nearest : undefined;
}

/** ` Did you mean "title"?`, or nothing. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const nearest = nearestTo(name, candidates);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}
