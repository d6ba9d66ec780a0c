/**
 * What a list may be narrowed down to: one small tree, whoever asked for it and in whatever spelling.
 *
 * It is read twice: by `matches.ts` in memory, and by each store in its own language. Both must say the same of every
 * resource, so each condition means exactly what stands here. Every condition is either true or false of a resource,
 * never unknown.
 */

import type { Path } from "../collection/paths.ts";

/** What an attribute is compared with. */
export type Scalar = string | number | boolean | null;

/** A tree of conditions. An empty `and` is true of every resource, an empty `or` of none. */
export type Filter =
  | { kind: "and" | "or"; filters: readonly Filter[] }
  | { kind: "not"; filter: Filter }
  | Condition;

/** What one condition asks of the attribute at a path. None but `exists: false` is true of an attribute that is absent. */
export type Condition =
  /** It is one of the values: of the same type and equal. Arrays and objects never are. */
  | { kind: "in"; path: Path; values: readonly Scalar[] }
  /** It is a number that compares so with one of the numbers, or a string that does with one of the strings, by code point. */
  | { kind: "gt" | "gte" | "lt" | "lte"; path: Path; values: readonly (string | number)[] }
  /** It is a string with one of the strings in it (ASCII letters in either case), or an array with an element equal to one of the values. */
  | { kind: "contains"; path: Path; values: readonly Scalar[] }
  /** It is a string that begins or ends with one of the values; ASCII letters in either case. */
  | { kind: "startsWith" | "endsWith"; path: Path; values: readonly string[] }
  /** It is there, though it may be null; or it is not. */
  | { kind: "exists"; path: Path; value: boolean };

/** The kinds of condition. */
export type ConditionKind = Condition["kind"];
