/** What somebody may have meant. */
import { distance } from "fastest-levenshtein";

/**
 * Limits of the search for near names. Longer names are not compared, since the time grows with the product of both
 * lengths. One answer searches only for its first few names, and
 * only while that is cheap, since each may have a thousand candidates.
 */
export const nearestLimits = { nameLength: 64, searches: 5, work: 150_000 } as const;

/** What one answer may still spend on comparisons: a comparison costs the lengths of both names, and a little more. */
export interface SearchBudget {
  left: number;
}

const costOfComparison = 20;

/** For all searches of one answer together: about 10 ms. */
export function createSearchBudget(): SearchBudget {
  return { left: nearestLimits.work };
}

/** The candidate that a misspelled name is near to; `undefined` if none is, or if the search would cost too much. */
export function nearestTo(
  name: string,
  candidates: readonly string[],
  budget: SearchBudget = createSearchBudget(),
): string | undefined {
  if (name.length > nearestLimits.nameLength) return undefined;
  let nearest: string | undefined;
  let edits = name.length < 4 ? 2 : 3 + Math.floor(name.length / 8);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > edits) continue; // at least as many edits as the lengths differ
    budget.left -= costOfComparison + name.length + candidate.length;
    if (budget.left < 0) return undefined;
    const needed = distance(name.toLowerCase(), candidate.toLowerCase());
    if (needed > edits || needed >= name.length) continue; // nothing of the name would be left
    if (needed === edits && !beginsMoreAlike(name, candidate, nearest)) continue;
    nearest = candidate;
    edits = needed;
  }
  return nearest;
}

/** Of two that are as near, the beginning tells: "neq" is "ne" rather than "eq". */
function beginsMoreAlike(name: string, candidate: string, nearest: string | undefined): boolean {
  return nearest !== undefined && commonBeginning(name, candidate) > commonBeginning(name, nearest);
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** ` Did you mean "title"?`, or nothing. */
export function didYouMean(
  name: string,
  candidates: readonly string[],
  budget: SearchBudget = createSearchBudget(),
): string {
  const nearest = nearestTo(name, candidates, budget);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}

/** Suggests near names, as `didYouMean`. */
export type Suggest = (name: string, candidates: () => readonly string[]) => string;

/** Makes a `Suggest` for one answer. It searches for the first five names, and suggests nothing for later ones. */
export function createSuggest(): Suggest {
  let left: number = nearestLimits.searches;
  const budget = createSearchBudget();
  return (name, candidates) => (left-- > 0 && budget.left > 0 ? didYouMean(name, candidates(), budget) : "");
}
