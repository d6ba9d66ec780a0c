/** The parts that the descriptions of the paths of the service itself share. */
import { actions } from "../../access/actions.ts";
import { type Part, text } from "./described.ts";

/** A list of texts. */
export const texts: Part = { type: "array", items: text };
/** The schema of a boolean. */
export const truth: Part = { type: "boolean" };

/** The schema of an array. */
export function listOf(items: Part, description?: string): Part {
  return { type: "array", items, ...(description !== undefined && { description }) };
}

/** The query parameter of the size of a page. */
export function limitParameter(usual: number, most: number): Part {
  return {
    name: "limit",
    in: "query",
    description: "The most items on the page.",
    schema: { type: "integer", minimum: 1, maximum: most, default: usual },
  };
}

/** The query parameter of the place where a page starts. */
export const after: Part = {
  name: "after",
  in: "query",
  description: "The page starts after the item with this name.",
  schema: text,
};

/** The path of the next page. */
export const next: Part = { description: "The path of the next page. Left out on the last page.", ...text };

/** The actions, for operations of a caller. */
export const operation: Part = { enum: actions };
