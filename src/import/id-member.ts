/** Which member of an item is the id of its resource. */
import { type Path, parsePath, valueAt } from "../collection/paths.ts";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import { setMember } from "../json/values.ts";

/** The path of the id in an item. `none`: no item has an id. */
export type IdMember = Path | "none";

/** The forms of the option `id`, for messages. */
export const idMemberForms = "must be the name of an attribute, such as _id, or none";

/** Reads the option `id`; `undefined` if it has another form. */
export function readIdMember(text: string): IdMember | undefined {
  return text === "none" ? "none" : parsePath(text);
}

/**
 * Makes the named member the id of an item. An object that contained only the id goes with it. Changes `value`,
 * unless it returns what is wrong. `keepIn`: the attribute that keeps an id that is left out.
 */
export function moveId(
  value: Record<string, unknown>,
  member: IdMember,
  { keepIn }: { keepIn?: string | undefined } = {},
): Violation[] {
  if (member === "none") {
    if (keepIn !== undefined && Object.hasOwn(value, "id")) setMember(value, keepIn, value.id);
    delete value.id;
    return [];
  }
  const id = valueAt(value, member);
  const isElsewhere = member.length > 1 || member[0] !== "id";
  if (id === undefined || !isElsewhere) return [];
  if (Object.hasOwn(value, "id") && member[0] !== "id") {
    const detail = `has a value, and so has ${JSON.stringify(member.join("."))}, which the option "id" names. Remove one of them`;
    return [{ in: "body", pointer: toFragment(["id"]), code: "id", detail }];
  }
  remove(value, member);
  value.id = id;
  return [];
}

/** Removes a member, and each object that it leaves empty. */
function remove(value: Record<string, unknown>, [name, ...rest]: readonly string[]): void {
  const inner = value[name as string];
  if (rest.length > 0) remove(inner as Record<string, unknown>, rest);
  if (rest.length === 0 || Object.keys(inner as object).length === 0) delete value[name as string];
}
