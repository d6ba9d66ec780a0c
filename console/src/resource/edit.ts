/** What a user edits: the attributes, compared with the version that they are based on, and the texts that are no values at the moment. */
import { etagOf, type JsonPatchOperation } from "holdfast-client";
import type { Refusal } from "../service/errors.ts";
import { readJsonObject } from "./json-text.ts";

/** The state of an edit. */
export interface Edit {
  /** The version that the draft is based on. */
  readonly base: Attributes;
  /** Its ETag; empty for a new resource. */
  readonly etag: string;
  readonly mine: Attributes;
  /** Texts that are no valid values, by attribute. The draft has the last valid value. */
  readonly invalid: ReadonlyMap<string, string>;
  /** The text of the whole resource as JSON, while it is not valid. */
  readonly json?: string | undefined;
}

/** An edit without changes. */
export function startEdit(base: Attributes, etag: string): Edit {
  return { base, etag, mine: base, invalid: new Map() };
}

/** Whether the user would lose something. */
export function isChanged({ base, mine, invalid, json }: Edit): boolean {
  return invalid.size > 0 || json !== undefined || !isEqual(base, mine);
}

/** Whether the draft has texts that are no values, so that it cannot be saved. */
export function isBroken({ invalid, json }: Edit): boolean {
  return invalid.size > 0 || json !== undefined;
}

/** The attributes that differ from the base. */
export function changesOf({ base, mine }: Edit): string[] {
  return changedNames(base, mine);
}

export function setValue(edit: Edit, name: string, value: unknown): Edit {
  return { ...edit, mine: withValue(edit.mine, name, value), invalid: withoutKey(edit.invalid, name) };
}

export function removeValue(edit: Edit, name: string): Edit {
  return { ...edit, mine: without(edit.mine, name), invalid: withoutKey(edit.invalid, name) };
}

/** Keeps a text that is no valid value. */
export function setInvalid(edit: Edit, name: string, text: string): Edit {
  return { ...edit, invalid: new Map(edit.invalid).set(name, text) };
}

/** Makes an attribute as it is in the base. */
export function resetValue(edit: Edit, name: string): Edit {
  return Object.hasOwn(edit.base, name) ? setValue(edit, name, edit.base[name]) : removeValue(edit, name);
}

/** Takes the whole resource from its text. */
export function setJson(edit: Edit, text: string): Edit {
  const read = readJsonObject(text);
  if (read.problem !== undefined) return { ...edit, json: text };
  const mine = read.value as Attributes;
  return { ...edit, mine: isEqual(mine, edit.mine) ? edit.mine : mine, invalid: new Map(), json: undefined };
}

/** The draft on top of another version. */
export function rebase(base: Attributes, etag: string, mine: Attributes): Edit {
  return { base, etag, mine, invalid: new Map() };
}

function withoutKey(map: ReadonlyMap<string, string>, name: string): ReadonlyMap<string, string> {
  if (!map.has(name)) return map;
  const next = new Map(map);
  next.delete(name);
  return next;
}

/** The errors that still apply to a draft: those of attributes that the user has changed since are left out. */
export function stillWrong({ byName, ...rest }: Refusal, refused: Attributes, mine: Attributes): Refusal {
  const isSame = (name: string) =>
    Object.hasOwn(refused, name) === Object.hasOwn(mine, name) &&
    isEqual(valueAt(refused, name), valueAt(mine, name));
  return { byName: new Map([...byName].filter(([name]) => isSame(name))), ...rest };
}

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

/** The tag of the version itself. A response with a content coding has another tag for the same version, such as `"2-gzip"`. */
export function withoutCoding(etag: string): string {
  return etag.replace(/-(?:br|gzip|deflate|zstd)"$/, '"');
}

/** The ETag of a resource, equal for all responses with the same version; empty if it is not known. */
export function tagOf(resource: object): string {
  return withoutCoding(etagOf(resource) ?? "");
}

/** The number of a version, from its ETag. */
export function versionOf(etag: string): number | undefined {
  const [, digits] = /^(?:W\/)?"(\d+)/.exec(etag) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
