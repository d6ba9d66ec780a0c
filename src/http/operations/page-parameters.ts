/** Reads the parameters of pages outside the collections: `limit`, and the name after which a page starts. */
import { readLimit } from "../../query/page-limit.ts";
import { inQuery, Violations } from "../../query/violations.ts";

/** How long a page can be, and whether the parameter `after` exists. */
export interface PageParameters {
  usual: number;
  most: number;
  hasAfter: boolean;
  /** The names of parameters that filter. @default none */
  filters?: readonly string[];
}

/** What a request asks for. `after` is the name after which the page starts; `undefined` for the first page. */
export interface PageAsked {
  limit: number;
  after: string | undefined;
  /** The texts of the parameters that filter, by name. */
  filters: Readonly<Record<string, string>>;
}

/** Throws INVALID_PARAMETER with all violations. */
export function parsePage(query: string, { usual, most, hasAfter, filters = [] }: PageParameters): PageAsked {
  const violations = new Violations();
  const known = hasAfter ? ["limit", "after", ...filters] : ["limit", ...filters];
  const given: Record<string, string> = {};
  const asked: PageAsked = { limit: usual, after: undefined, filters: given };
  const seen = new Set<string>();
  const pairs = [...new URLSearchParams(query)];
  const isContinued = hasAfter && pairs.some(([name]) => name === "after");
  for (const [name, value] of pairs) {
    if (!known.includes(name)) violations.add(inQuery(name), "unknownParameter", notUnderstood(known));
    else if (seen.has(name)) violations.add(inQuery(name), "repeatedParameter", "must be given only once");
    else if (name === "after") asked.after = value;
    else if (filters.includes(name)) given[name] = value;
    else asked.limit = readLimit(value, inQuery(name), { most, isContinued }, violations) ?? usual;
    seen.add(name);
  }
  violations.throwIfAny();
  return asked;
}

function notUnderstood(known: readonly string[]): string {
  return `is not understood here. This path has only ${known.map((each) => `"${each}"`).join(" and ")}`;
}
