/** Changes of many resources, as the service takes them. */
import type { Kind } from "../service/schema.ts";

/** The most resources of one change, by the service. */
export const mostBulk = 1_000;

/** The most resources of one task, by the service. */
export const mostInTask = 2_000_000;

/** What a change does with an attribute. */
export type Action = "set" | "null" | "unset";

/** What a bulk change does. */
export type BulkAction = { delete: true } | { update: Record<string, unknown> };

/** The value that a text means for an attribute. Throws SyntaxError if the text is no such value. */
export function readValue(text: string, kind: Kind): unknown {
  switch (kind) {
    case "number":
    case "integer":
    case "boolean":
    case "list":
    case "object":
      return JSON.parse(text);
    case "any":
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    default:
      return text;
  }
}

/** The update operators of a change. */
export function updateOf(name: string, action: Action, text: string, kind: Kind): Record<string, unknown> {
  if (action === "unset") return { [name]: { $unset: true } };
  return { [name]: { $set: action === "null" ? null : readValue(text, kind) } };
}

/** The id of the refused resource in a path of the service. */
export function idInPath(path: string | undefined): string | undefined {
  const last = path?.split("/").at(-1);
  return last === undefined ? undefined : decodeURIComponent(last);
}
