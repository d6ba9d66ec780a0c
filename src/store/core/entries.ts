/**
 * What is derived from a resource, so that it can be found: its keys in the indexes (`order-keys.ts`), the keys of its unique
 * values, and the ids that it refers to. Indexes and unique attributes have numbers. In SQLite, each key is a row: an entry.
 */
import { hash } from "node:crypto";
import { type Index, nameOfKey } from "../../collection/indexes.ts";
import { formatPath } from "../../collection/paths.ts";
import { type Reference, referencedIds } from "../../collection/references.ts";
import type { Attributes } from "../../collection/resource.ts";
import type { Unique } from "../../collection/unique.ts";
import { wordsVersion } from "../../query/search-words.ts";
import { type CursorValues, cursorValuesOf } from "../../query/sort.ts";
import { uniqueValue } from "../../query/unique-values.ts";
import { type CollectionRecord, isEqualJson } from "../port/record.ts";
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
  /** Absent if everything is built. */
  building?: Building;
}

/** What a store still does in steps, because the declaration has changed (`building.ts`). */
export interface Building {
  /** The numbers of indexes that do not have all resources yet. No read uses them, but writes keep their keys. */
  slots: readonly number[];
  /** The version of the search words that are gathered. */
  words?: string;
  /** Numbers that nothing uses any more. Their entries are removed. */
  unused: readonly number[];
}

/** The numbers of a new collection. */
export const noSlots: Slots = { next: 1, used: [] };

/** What has a number: the indexes and the unique attributes. */
export interface Numbered {
  /** The complete indexes. Reads use these. */
  slots: readonly Slot[];
  uniqueSlots: readonly UniqueSlot[];
  /** Also the indexes that are being built. Writes keep the keys of all of them. */
  places: readonly (Slot | UniqueSlot)[];
}

/** The declared indexes and unique attributes with their numbers. */
export function numberedOf({ indexes, unique = [] }: Keyed, { used, building }: Slots): Numbered {
  const all = indexes.map((index, n) => ({ slot: used[n] as number, index }));
  const uniqueSlots = unique.map((each, n) => ({ slot: used[indexes.length + n] as number, unique: each }));
  const slots = all.filter(({ slot }) => building?.slots.includes(slot) !== true);
  return { slots, uniqueSlots, places: [...all, ...uniqueSlots] };
}

type Keyed = Pick<CollectionRecord, "indexes" | "unique">;

/** The parts of a declaration from which a store derives what it builds in steps. */
export type Derived = Keyed & Pick<CollectionRecord, "search">;

/**
 * The numbers after a change of the declaration, and what must be built because of it. What stays keeps its number. No number is used
 * twice, because a read that knows the old declaration can still use it.
 */
export function changeSlots(before: Derived, { next, used: known, building }: Slots, after: Derived): Slots {
  const numbers = new Map(namesOf(before).map((name, n) => [name, known[n] as number]));
  let last = next;
  const used = namesOf(after).map((name) => numbers.get(name) ?? last++);
  const isIncomplete = (slot: number) => slot >= next || building?.slots.includes(slot) === true;
  const slots = used.slice(0, after.indexes.length).filter(isIncomplete);
  const unused = [...(building?.unused ?? []), ...known.filter((slot) => !used.includes(slot))];
  const hasOldSearch = isEqualJson(before.search, after.search);
  const words = hasOldSearch ? building?.words : after.search.length > 0 ? wordsVersion : undefined;
  return withBuilding({ next: last, used }, { slots, unused, ...(words !== undefined && { words }) });
}

/** The numbers with what must be built. */
export function withBuilding({ next, used }: Slots, building: Building | undefined): Slots {
  const hasWork =
    building !== undefined &&
    (building.words !== undefined || building.slots.length + building.unused.length > 0);
  return { next, used, ...(hasWork && { building }) };
}

function namesOf({ indexes, unique = [] }: Keyed): string[] {
  return [
    ...indexes.map((index) =>
      JSON.stringify(
        index.map((key) => [
          nameOfKey(key),
          key.descending,
          ...(key.movesNulls === true ? ["movesNulls"] : []),
          ...(key.folding === undefined ? [] : [key.folding]),
        ]),
      ),
    ),
    ...unique.map(({ path, ignoreCase, ignore, folding, as, others, where }) =>
      JSON.stringify({ path, ignoreCase, ignore, folding, as, others, where: where?.filter }),
    ),
  ];
}
