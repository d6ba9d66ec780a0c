/**
 * What is derived from a resource, so that it can be found: its keys in the indexes (`order-keys.ts`), the keys of its unique
 * values, and the ids that it refers to. Indexes and unique attributes have numbers. In SQLite, each key is a row: an entry.
 */
import { hash } from "node:crypto";
import { type Index, nameOfKey } from "../../collection/indexes.ts";
import { formatPath } from "../../collection/paths.ts";
import { type Reference, referencedIds } from "../../collection/references.ts";
import type { Attributes } from "../../collection/resource.ts";
import { type Unique, uniqueValue } from "../../collection/unique.ts";
import { type CursorValues, cursorValuesOf } from "../../query/sort.ts";
import type { CollectionRecord } from "../port/record.ts";
import type { Slot } from "./access-path.ts";
import { keyAt } from "./order-keys.ts";

/** A unique attribute with its number. */
export interface UniqueSlot {
  slot: number;
  unique: Unique;
}

/** An entry of a resource. */
export interface Entry {
  slot: number;
  key: Buffer;
  /** The attributes whose values the entry has. Empty for a unique value. */
  index: Index;
  values: CursorValues;
}

/**
 * The entry of a resource: the key in an index, or the key of a unique value with the id. `undefined`: the resource has no value
 * that must be unique.
 */
export function entryOf(resource: Attributes, place: Slot | UniqueSlot): Entry | undefined {
  const { slot } = place;
  if ("index" in place) {
    const values = cursorValuesOf(resource, place.index);
    return { slot, key: keyAt(values, place.index), index: place.index, values };
  }
  const value = uniqueValue(resource, place.unique);
  if (value === undefined) return undefined;
  const key = Buffer.concat([uniqueKey(value), zero, Buffer.from(String(resource.id))]);
  return { slot, key, index: none, values: none };
}

/** The entries to remove and to add if a resource changes. `undefined`: the resource does not exist. */
export function entryChanges(
  places: readonly (Slot | UniqueSlot)[],
  before: Attributes | undefined,
  next: Attributes | undefined,
): { removed: readonly Entry[]; added: readonly Entry[] } {
  const removed: Entry[] = [];
  const added: Entry[] = [];
  for (const place of places) {
    const [old, now] = [before && entryOf(before, place), next && entryOf(next, place)];
    if (old !== undefined && now?.key.equals(old.key)) continue;
    if (old !== undefined) removed.push(old);
    if (now !== undefined) added.push(now);
  }
  return { removed, added };
}

/** The longest unique value that is its own key, in UTF-16 code units. Such keys of similar values are near each other in an index. */
const maxOwnKey = 64;

/** The key of a unique value: itself, or its hash. It has no zero byte, and no two values have the same one. */
export function uniqueKey(value: string): Buffer {
  return Buffer.from(value.length <= maxOwnKey ? value : hash("sha256", value));
}

/** The ids that a resource refers to, each once with the name of the attribute. */
export function referencesOf(
  resource: Attributes,
  references: readonly Reference[],
): (readonly [attribute: string, target: string])[] {
  return references.flatMap((reference) => {
    const attribute = formatPath(reference.path);
    const ids = new Set(referencedIds(resource, [reference]).map(({ id }) => id));
    return [...ids].filter(canBeId).map((id) => [attribute, id] as const);
  });
}

/** An id has at most this many UTF-16 code units. */
const maxIdLength = 128;

/** Whether a text can be an id. A longer reference leads to no resource, and stores do not index it. */
export function canBeId(text: string): boolean {
  return text !== "" && text.length <= maxIdLength;
}

const none: readonly never[] = [];
const zero = Buffer.of(0);

/** The numbers of a collection, as the catalogue contains them. */
export interface Slots {
  /** The next new number. */
  next: number;
  /** The numbers of the declared indexes and then of the unique attributes, in their order. */
  used: readonly number[];
}

/** The numbers of a new collection. */
export const noSlots: Slots = { next: 1, used: [] };

/** What has a number: the indexes, and then the unique attributes. */
export interface Numbered {
  slots: readonly Slot[];
  uniqueSlots: readonly UniqueSlot[];
}

/** The declared indexes and unique attributes with their numbers. */
export function numberedOf({ indexes, unique = [] }: Declared, { used }: Slots): Numbered {
  return {
    slots: indexes.map((index, n) => ({ slot: used[n] as number, index })),
    uniqueSlots: unique.map((each, n) => ({ slot: used[indexes.length + n] as number, unique: each })),
  };
}

type Declared = Pick<CollectionRecord, "indexes" | "unique">;

/**
 * The numbers after a change of the declaration. What stays keeps its number. No number is used twice, because a read that knows the
 * old declaration can still use it.
 */
export function changeSlots(before: Declared, { next, used: known }: Slots, after: Declared): Slots {
  const numbers = new Map(namesOf(before).map((name, n) => [name, known[n] as number]));
  let last = next;
  const used = namesOf(after).map((name) => numbers.get(name) ?? last++);
  return { next: last, used };
}

/** The numbers that are no longer used. */
export function unusedSlots({ next, used }: Slots): readonly number[] {
  return Array.from({ length: next - 1 }, (_, n) => n + 1).filter((slot) => !used.includes(slot));
}

function namesOf({ indexes, unique = [] }: Declared): string[] {
  return [
    ...indexes.map((index) => JSON.stringify(index.map((key) => [nameOfKey(key), key.descending]))),
    ...unique.map(({ path, ignoreCase, as }) => JSON.stringify({ path, ignoreCase, as })),
  ];
}
