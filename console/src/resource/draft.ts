/** What the user has changed in a resource, compared with the version that it is based on. */
import type { JsonPatchOperation } from "holdfast-client";

/** The attributes of a resource, by name. Absent attributes have no member. */
export type Attributes = Readonly<Record<string, unknown>>;

/** Whether two JSON values are equal. The order of members does not count. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, n) => isEqual(each, other[n]))
    );
  const [a, b] = [one as Attributes, other as Attributes];
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  );
}

/** The names of the attributes that differ, in the order of the first object, then of the second. */
export function changedNames(before: Attributes, after: Attributes): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => !isSame(before, after, name));
}

function isSame(one: Attributes, other: Attributes, name: string): boolean {
  return Object.hasOwn(one, name) === Object.hasOwn(other, name) && isEqual(one[name], other[name]);
}

/** The changes as a JSON Patch, which can set an attribute to null and remove one. */
export function patchOf(before: Attributes, after: Attributes): JsonPatchOperation[] {
  return changedNames(before, after).map((name) => {
    const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return Object.hasOwn(after, name)
      ? { op: "add" as const, path, value: after[name] }
      : { op: "remove" as const, path };
  });
}

/** One attribute of a conflict. */
export interface Difference {
  name: string;
  /** Who changed it, since the version that the draft is based on. */
  by: "me" | "them" | "both";
}

/** What both sides changed. Attributes that both changed in the same way are not a difference. */
export function differencesOf(base: Attributes, mine: Attributes, theirs: Attributes): Difference[] {
  const names = [...new Set([...Object.keys(base), ...Object.keys(theirs), ...Object.keys(mine)])];
  return names.flatMap((name) => {
    if (isSame(mine, theirs, name)) return [];
    const isMine = !isSame(base, mine, name);
    const isTheirs = !isSame(base, theirs, name);
    return [
      { name, by: isMine && isTheirs ? ("both" as const) : isMine ? ("me" as const) : ("them" as const) },
    ];
  });
}

/** Their version, with the attributes that `takesMine` names as I have them. */
export function merge(mine: Attributes, theirs: Attributes, takesMine: ReadonlySet<string>): Attributes {
  let merged = theirs;
  for (const name of takesMine)
    merged = Object.hasOwn(mine, name) ? withValue(merged, name, mine[name]) : without(merged, name);
  return merged;
}

/** The value of an attribute; `undefined` if it is absent. Names such as `constructor` are absent too. */
export function valueAt(attributes: Attributes, name: string): unknown {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/** The attributes with another value of one. Their order stays. */
export function withValue(attributes: Attributes, name: string, value: unknown): Attributes {
  return { ...attributes, [name]: value };
}

/** The attributes without one. */
export function without(attributes: Attributes, name: string): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([each]) => each !== name));
}
