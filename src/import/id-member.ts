/** Which member of an item is the id of its resource. */
import { formatPath, isIdPath, valueAt } from "../collection/paths.ts";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import { setMember } from "../json/values.ts";
import { keepId } from "./new-ids.ts";
import type { IdMember, NewIds } from "./options.ts";

/**
 * Makes the named member the id of an item. An object that contained only the id goes with it. `ids`: how an id that is left out is kept.
 * Changes `value`. If it returns violations, it has changed nothing.
 */
export function moveId(value: Record<string, unknown>, member: IdMember, ids: NewIds = {}): Violation[] {
  if (member === "none") {
    const overwritten = keepId(value, ids);
    if (overwritten.length === 0) delete value.id;
    return overwritten;
  }
  const id = valueAt(value, member);
  if (id === undefined || isIdPath(member)) return [];
  const others = withoutMember(value, member);
  if (Object.hasOwn(others, "id")) {
    const detail = `has a value beside ${JSON.stringify(formatPath(member))}, which the option "id" names. Remove one of them`;
    return [{ in: "body", pointer: toFragment(["id"]), code: "id", detail }];
  }
  const [first] = member;
  if (Object.hasOwn(others, first)) setMember(value, first, others[first]);
  else delete value[first];
  value.id = id;
  return [];
}

/** An object without a member, and without the objects that this leaves empty. */
function withoutMember(
  value: Record<string, unknown>,
  [name, ...rest]: readonly string[],
): Record<string, unknown> {
  const { [name as string]: inner, ...others } = value;
  if (rest.length === 0) return others;
  const left = withoutMember(inner as Record<string, unknown>, rest);
  return Object.keys(left).length === 0 ? others : { ...value, [name as string]: left };
}
