/**
 * The indexes of a collection, as its declaration requires them. A resource has a column with its keys: bytes with the order of
 * lists (`store/core/order-keys.ts`), and keys of its unique values. Each has its own place, so a new index adds no column.
 */
import { uniqueValue } from "../../../collection/unique.ts";
import { type Numbered, uniqueKey } from "../../core/entries.ts";
import { keyOf } from "../../core/order-keys.ts";
import { resourcesTable } from "./tables.ts";

/** The parts of a declaration that decide the keys. */
export type Keyed = Numbered;

/** The statements that drop the indexes whose numbers are only in `before`, and create those whose numbers are only in `after`. */
export function indexStatements(number: number, before: readonly number[], after: readonly number[]) {
  const table = resourcesTable(number);
  const name = (slot: number) => `${table}_by_key_${slot}`;
  return {
    dropped: before
      .filter((slot) => !after.includes(slot))
      .map((slot) => `drop index if exists ${name(slot)}`),
    created: after
      .filter((slot) => !before.includes(slot))
      .map((slot) => `create index if not exists ${name(slot)} on ${table} ((${keySql(slot)}))`),
  };
}

/** The key of a resource in an index. */
export function keySql(slot: number): string {
  return `keys[${slot}]`;
}

/** A key as a value: text that the database reads as bytes. */
export function keyText(key: Buffer): string {
  return `\\x${key.toString("hex")}`;
}

/** The column `keys` of a resource with this text, as the database reads an array. Null without indexes and unique attributes. */
export function keysOf({ slots, uniqueSlots }: Keyed, text: string): string | null {
  const last = Math.max(0, ...[...slots, ...uniqueSlots].map(({ slot }) => slot));
  if (last === 0) return null;
  const resource = JSON.parse(text);
  const cells: string[] = Array(last).fill("null");
  const set = (slot: number, key: Buffer) => {
    cells[slot - 1] = `"\\${keyText(key)}"`;
  };
  for (const { slot, index } of slots) set(slot, keyOf(resource, index));
  for (const { slot, unique } of uniqueSlots) {
    const value = uniqueValue(resource, unique);
    if (value !== undefined) set(slot, uniqueKey(value));
  }
  return `{${cells.join(",")}}`;
}
