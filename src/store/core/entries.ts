/** Entries, and the numbers of indexes. SQLite has a row with the key of a resource in each index: its entry (`order-keys.ts`). */
import { type Index, nameOfKey } from "../../collection/indexes.ts";
import { type CursorValues, cursorValuesOf } from "../../query/sort.ts";
import { keyAt, keyOf } from "./order-keys.ts";
import type { Slot } from "./ranges.ts";

/** A change of one entry of a resource. */
export interface EntryChange {
  slot: number;
  index: Index;
  /** The key of the entry to remove. */
  removed: Buffer | undefined;
  /** The key of the entry to add. */
  added: Buffer | undefined;
  /** The sort values of the added entry. */
  values: CursorValues;
}

/** The changes of entries if the text of a resource changes. `undefined` as a text: the resource does not exist. */
export function entryChanges(
  slots: readonly Slot[],
  before: string | undefined,
  next: string | undefined,
): readonly EntryChange[] {
  if (slots.length === 0 || before === next) return none;
  const [old, now] = [before, next].map((text) => (text === undefined ? undefined : JSON.parse(text)));
  const changes: EntryChange[] = [];
  for (const { slot, index } of slots) {
    const removed = old && keyOf(old, index);
    const values = now === undefined ? none : cursorValuesOf(now, index);
    const added = now && keyAt(values, index);
    if (removed === undefined || added === undefined || !added.equals(removed))
      changes.push({ slot, index, removed, added, values });
  }
  return changes;
}

const none: readonly never[] = [];

/** The numbers of the indexes of a collection, as the catalogue contains them. */
export interface Slots {
  /** The number for the next new index. */
  next: number;
  /** The numbers of the declared indexes, in their order. */
  used: readonly number[];
}

/** The numbers of a new collection. */
export const noSlots: Slots = { next: 1, used: [] };

/** The declared indexes with their numbers. */
export function slotsOf(indexes: readonly Index[], { used }: Slots): readonly Slot[] {
  return indexes.map((index, n) => ({ slot: used[n] as number, index }));
}

/**
 * The numbers after a change of the indexes, and the indexes that get a new number. An index that stays keeps its number. No
 * number is used twice, because a read that knows the old declaration can still use it.
 */
export function changeSlots(
  known: readonly Slot[],
  { next }: Slots,
  indexes: readonly Index[],
): { slots: Slots; added: readonly Slot[] } {
  const numbers = new Map(known.map(({ slot, index }) => [nameOfIndex(index), slot]));
  const added: Slot[] = [];
  const used = indexes.map((index) => {
    const kept = numbers.get(nameOfIndex(index));
    if (kept !== undefined) return kept;
    added.push({ slot: next + added.length, index });
    return next + added.length - 1;
  });
  return { slots: { next: next + added.length, used }, added };
}

/** The numbers of the indexes that are no longer declared. */
export function unusedSlots({ next, used }: Slots): readonly number[] {
  return Array.from({ length: next - 1 }, (_, n) => n + 1).filter((slot) => !used.includes(slot));
}

function nameOfIndex(index: Index): string {
  return JSON.stringify(index.map((key) => [nameOfKey(key), key.descending]));
}
