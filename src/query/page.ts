/** The query string of a list: what page is asked for. Anything else in it is refused, never ignored. */
import { didYouMean } from "../collection/nearest.ts";
import { Problem, toSentence, type Violation } from "../errors.ts";
import { parseCursor } from "./cursor.ts";

/** How many resources a page has when the client does not say. */
export const defaultPageSize = 100;

/** The page of a list that is asked for. */
export interface PageRequest {
  /** How many resources at most. */
  limit: number;
  /** Whether the client named the limit; links then repeat it. */
  hasLimit: boolean;
  /** The id after which the page begins; `undefined` for the first page. */
  after: string | undefined;
}

const parameters = ["limit", "cursor"] as const;

/** Reads a list's query string; `list` is what its cursors belong to. Throws INVALID_PARAMETER and INVALID_CURSOR. */
export function parsePage(query: string, list: string, maxPageSize: number): PageRequest {
  if (query === "")
    return { limit: Math.min(defaultPageSize, maxPageSize), hasLimit: false, after: undefined };
  const values = new URLSearchParams(query);
  const violations = [...unknownParameters(values, parameters), ...repeatedParameters(values)];
  const limit = values.get("limit");
  if (limit !== null && !/^0*[1-9][0-9]*$/.test(limit)) violations.push(notALimit(limit));
  refuse(violations);
  const cursor = values.get("cursor");
  return {
    limit: Math.min(limit === null ? defaultPageSize : Number(limit), maxPageSize),
    hasLimit: limit !== null,
    after: cursor === null ? undefined : String(parseCursor(list, cursor, 1)[0]),
  };
}

/** Refuses every query parameter: for methods and paths that take none. Throws INVALID_PARAMETER. */
export function requireNoParameters(query: string): void {
  if (query !== "") refuse(unknownParameters(new URLSearchParams(query), []));
}

function unknownParameters(values: URLSearchParams, known: readonly string[]): Violation[] {
  return [...new Set(values.keys())]
    .filter((name) => !known.includes(name))
    .map((name) => ({
      in: "query",
      name,
      code: "unknownParameter",
      detail: unknownParameterDetail(name, known),
    }));
}

function unknownParameterDetail(name: string, known: readonly string[]): string {
  if (known.length === 0) return `"${name}" is not understood: this method takes no query parameters here`;
  return `"${name}" is not understood.${didYouMean(name, known) || ` Known are ${known.join(", ")}`}`;
}

function repeatedParameters(values: URLSearchParams): Violation[] {
  return parameters
    .filter((name) => values.getAll(name).length > 1)
    .map((name) => ({ in: "query", name, code: "repeatedParameter", detail: `"${name}" may be given once` }));
}

function notALimit(limit: string): Violation {
  return {
    in: "query",
    name: "limit",
    code: "limit",
    detail: `"limit" must be a whole number of at least 1, and is "${limit}"`,
  };
}

function refuse(violations: readonly Violation[]): void {
  const [first] = violations;
  if (first === undefined) return;
  throw new Problem("INVALID_PARAMETER", `The query parameter ${toSentence(first.detail)}`, {
    violations,
  });
}
