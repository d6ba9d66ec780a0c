/** What a user edits: the attributes, and the texts that are no values at the moment. */
import { type Attributes, changedNames, isEqual, without, withValue } from "./draft.ts";
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
