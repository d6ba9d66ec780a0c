/** The parts that the descriptions of the paths of the service itself share. */
import { actions } from "../../access/access-declaration.ts";
import { type Part, text } from "./described.ts";

/** A list of texts. */
export const texts: Part = { type: "array", items: text };
/** The schema of a boolean. */
export const truth: Part = { type: "boolean" };

/** The schema of an array. */
export function listOf(items: Part, description?: string): Part {
  return { type: "array", items, ...(description !== undefined && { description }) };
}

/** The path of the next page. */
export const next: Part = { description: "The path of the next page. Left out on the last page.", ...text };

/** The actions, for operations of a caller. */
export const operation: Part = { enum: actions };
