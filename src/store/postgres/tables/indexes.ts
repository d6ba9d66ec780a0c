/**
 * The indexes of a collection, as its declaration requires them. A resource has a column with its keys: bytes with the order of
 * lists (`store/core/order-keys.ts`), and hashes of its unique values. Each has its own place, so a new index adds no column.
 */
import { createHash } from "node:crypto";
import type { Index } from "../../../collection/indexes.ts";
import { formatPath } from "../../../collection/paths.ts";
import { type Unique, uniqueValue } from "../../../collection/unique.ts";
import { keyOf, type Slots } from "../../core/order-keys.ts";
import { resourcesTable } from "./tables.ts";

/** The parts of a declaration that decide the keys. The numbers are those of the indexes, and then those of the unique attributes. */
export interface Keyed {
  indexes: readonly Index[];
  unique: readonly Unique[];
  numbers: Slots;
}

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

/** Everything that has a number: the indexes, and the unique attributes in the form of indexes with special paths. */
export function numberedOf({ indexes, unique }: Pick<Keyed, "indexes" | "unique">): readonly Index[] {
  const names = unique.map(
    ({ path, ignoreCase, as }): Index => [
      { path: [`\0unique ${ignoreCase}`, ...path], descending: false, ...(as && { as }) },
    ],
  );
  return [...indexes, ...names];
}

/** The key of a resource in an index. */
export function keySql(slot: number): string {
  return `keys[${slot}]`;
}

/** The number of a unique attribute of the collection. */
export function uniqueSlot({ indexes, unique, numbers }: Keyed, one: Unique): number {
  const name = formatPath(one.path);
  const n = unique.findIndex(({ path }) => formatPath(path) === name);
  return numbers.used[indexes.length + n] as number;
}

/** The key of a unique value. */
export function uniqueKey(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}

/** A key as a value: text that the database reads as bytes. */
export function keyText(key: Buffer): string {
  return `\\x${key.toString("hex")}`;
}

/** The column `keys` of a resource with this text, as the database reads an array. Null without indexes and unique attributes. */
export function keysOf({ indexes, unique, numbers: { used } }: Keyed, text: string): string | null {
  if (used.length === 0) return null;
  const resource = JSON.parse(text);
  const values = unique.map((one) => uniqueValue(resource, one));
  const keys = [
    ...indexes.map((index) => keyOf(resource, index)),
    ...values.map((value) => (value === undefined ? undefined : uniqueKey(value))),
  ];
  const cells: string[] = Array(Math.max(...used)).fill("null");
  for (const [n, key] of keys.entries())
    if (key !== undefined) cells[(used[n] as number) - 1] = `"\\${keyText(key)}"`;
  return `{${cells.join(",")}}`;
}
