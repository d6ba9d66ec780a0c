/** What both stores say about a broken unique attribute or reference. */
import { subjectAt } from "../json/pointer.ts";

/** The message about a value that another resource has; the pointer leads to the attribute. */
export function takenMessage(pointer: string): string {
  return `${subjectAt(pointer, "The resource")} ${takenDetail}.`;
}

/** The message about a reference to a resource that does not exist; the pointer leads to the id. */
export function danglingMessage(pointer: string): string {
  return `${subjectAt(pointer, "The resource")} ${danglingDetail}.`;
}

/** The detail of the violation of a unique attribute. */
export const takenDetail = "repeats the value of another resource";

/** The detail of the violation of a reference. */
export const danglingDetail = "is not the id of an existing resource";
