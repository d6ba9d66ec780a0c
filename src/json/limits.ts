/** Bounds of JSON values. */
import { Problem } from "../errors.ts";

/** How deep and how wide a JSON value may be. */
export interface JsonLimits {
  /** Levels of nesting; a scalar has none. */
  depth: number;
  /** Members of one object. */
  members: number;
}

/** The problem of a value that is nested too deeply or too wide. */
export function beyondLimits({ depth, members }: JsonLimits): Problem {
  return new Problem(
    "BODY_TOO_DEEP",
    `The result would be nested more than ${depth} levels deep, or an object in it would have more than ${members} members.`,
  );
}
