/** The limit of a page, as every request with pages has it: a whole number, or `max` for the most that a page can have. */
import type { Location, Violations } from "./violations.ts";

/** Asks for the most that a page can have. */
export const most = "max";

/** What the limit of a page can be. */
export interface LimitBounds {
  /** @default 1 */
  least?: number;
  /** Says what 0 needs, where it is possible. @default "" */
  hintForZero?: string;
  most: number;
  /**
   * Whether the request continues at a position that the service gave. Such a link can be older than the bound, so a larger limit is lowered
   * to it. @default false
   */
  isContinued?: boolean;
}

/** Reads the limit of a page: a text in a query string, a number or `max` in a body. Adds a violation. */
export function readLimit(
  value: unknown,
  location: Location,
  bounds: LimitBounds,
  violations: Violations,
): number | undefined {
  const { least = 1, isContinued = false, hintForZero = "" } = bounds;
  if (value === most) return bounds.most;
  const number = location.in === "query" ? wholeIn(value) : value;
  if (isWhole(number) && number >= least && (number <= bounds.most || isContinued))
    return Math.min(number, bounds.most);
  const hint = number === 0 ? hintForZero : "";
  const expected = `a whole number from ${least} to ${bounds.most}, or ${most}${hint}`;
  violations.mustBe(location, "limit", expected, value);
  return undefined;
}

function wholeIn(text: unknown): number | undefined {
  return /^[0-9]+$/.test(String(text)) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}
