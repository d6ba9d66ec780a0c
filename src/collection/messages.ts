/** Parts of messages that every room uses: short values, similar names, and the check for unknown members. */
import { distance } from "fastest-levenshtein";
import { type StartFaults, withUnreadable } from "../errors/start-faults.ts";
import { StartError, type Violation } from "../errors.ts";
import { subjectAt } from "../json/pointer.ts";

/** The most characters of a value in a message. */
const maxLength = 80;

/** The JSON text of a value for a message, in one line. A long text is cut off. */
export function shortJson(value: unknown): string {
  const text = typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? typeof value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** The error of a value in a configuration that must be something else: `at must be true or false, not 5.` */
export function mustBe(at: string, expected: string, value: unknown): StartError {
  return new StartError(`${at} must be ${expected}, not ${shortJson(value)}.`);
}

/**
 * Limits of the search for similar names. Longer names are not compared, because the time grows with the product of both
 * lengths. One response searches only for its first few names, and only up to a total cost, because each name can have a
 * thousand candidates.
 */
export const nearestLimits = { nameLength: 64, searches: 5, work: 150_000 } as const;

/** The cost that one response can still spend. A comparison costs the lengths of both names, and a constant. */
export interface SearchBudget {
  left: number;
}

const costOfComparison = 20;

/** A budget for all searches of one response together: about 10 ms. */
function createSearchBudget(): SearchBudget {
  return { left: nearestLimits.work };
}

/** The candidate that is most similar to a misspelled name; `undefined` if none is, or if the budget is used up. */
export function nearestTo(
  name: string,
  candidates: readonly string[],
  budget: SearchBudget = createSearchBudget(),
): string | undefined {
  if (name.length > nearestLimits.nameLength) return undefined;
  let nearest: string | undefined;
  let edits = name.length < 4 ? 2 : 3 + Math.floor(name.length / 8);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > edits) continue; // the lengths differ too much
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

/** Decides between candidates with the same number of edits: "neq" is closer to "ne" than to "eq". */
function beginsMoreAlike(name: string, candidate: string, nearest: string | undefined): boolean {
  return nearest !== undefined && commonBeginning(name, candidate) > commonBeginning(name, nearest);
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** ` Did you mean "title"?`; empty if no candidate is similar. */
export function didYouMean(
  name: string,
  candidates: readonly string[],
  budget: SearchBudget = createSearchBudget(),
): string {
  const nearest = nearestTo(name, candidates, budget);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}

/** `didYouMean` with a budget. Asks for the candidates only if it searches. */
export type Suggest = (name: string, candidates: () => readonly string[]) => string;

/** A `Suggest` for one response. It searches for the first five names only. */
export function createSuggest(): Suggest {
  let left: number = nearestLimits.searches;
  const budget = createSearchBudget();
  return (name, candidates) => (left-- > 0 && budget.left > 0 ? didYouMean(name, candidates(), budget) : "");
}

/** The members that an object can have, and the message about any other. */
export interface KnownMembers {
  names: readonly string[];
  /** The message about an unknown member, without the advice at the end. */
  refuse: (name: string) => string;
  /** The advice if no known name is similar. @default all names */
  advice?: string;
}

/**
 * Adds the object's unknown members to the faults, and returns the object. A known member whose name is misspelled does not
 * count as missing: reading it throws a StartError without faults.
 */
export function withKnownMembers(
  given: Readonly<Record<string, unknown>>,
  { names, refuse, advice = `Known names: ${names.join(", ")}.` }: KnownMembers,
  faults: StartFaults,
): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  for (const name of unknown)
    faults.add([name], `${refuse(name)} ${didYouMean(name, names).trimStart() || advice}`);
  const meant = unknown.map((name) => nearestTo(name, names)).filter((name) => name !== undefined);
  return meant.length === 0 ? given : withUnreadable(given, meant);
}

/** A sentence that suggests the nearest known name. If none is near, it lists the known names. */
export function suggest(name: string, known: readonly string[]): string {
  if (known.length === 0) return "None exist.";
  const first = known.slice(0, 10).join(", ");
  return didYouMean(name, known).trimStart() || `Known names: ${first}${known.length > 10 ? ", …" : ""}.`;
}

const maxDescribed = 3;

/** What is wrong with a resource, in one line. */
export function describeViolations(violations: readonly Violation[]): string {
  const texts = violations
    .slice(0, maxDescribed)
    .map(({ pointer, detail }) =>
      pointer === undefined || pointer === "#" ? detail : `${subjectAt(pointer, "")} ${detail}`,
    );
  const more = violations.length - texts.length;
  return more > 0 ? `${texts.join("; ")}; and ${more} more` : texts.join("; ");
}
