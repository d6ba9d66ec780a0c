/**
 * The indexes of a collection, as its declaration requires them. A resource has a column with its keys: bytes with the order of
 * lists (`store/core/order-keys.ts`), and keys of its unique values. Each has its own place, so a new index adds no column.
 */

import type { Attributes } from "../../../collection/resource.ts";
import { cursorValuesOf } from "../../../query/sort.ts";
import { uniqueValue } from "../../../query/unique-values.ts";
import type { ReadResource } from "../../core/building.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { type Numbered, uniqueKey } from "../../core/entries.ts";
import { keyAt } from "../../core/order-keys.ts";
import { texts } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";
import { resourcesTable } from "./tables.ts";

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
export function keysOf({ places }: Numbered, text: string): string | null {
  return places.length === 0 ? null : keysIn(places, JSON.parse(text));
}

/** The column `keys` of a resource with these attributes. */
function keysIn(places: Numbered["places"], resource: Attributes): string {
  const cells: string[] = Array(Math.max(...places.map(({ slot }) => slot))).fill("null");
  const set = (slot: number, key: Buffer) => {
    cells[slot - 1] = `"\\${keyText(key)}"`;
  };
  for (const place of places) {
    if ("index" in place) set(place.slot, keyAt(cursorValuesOf(resource, place.index), place.index));
    else {
      const value = uniqueValue(resource, place.unique);
      if (value !== undefined) set(place.slot, uniqueKey(value));
    }
  }
  return `{${cells.join(",")}}`;
}

/** The keys of a resource as a list with commas, which `keysFromList` reads. `keys` has the form that `keysOf` makes. */
export function listOf(keys: string): string {
  return keys.slice(1, -1).replaceAll('"', "").replaceAll("\\\\", "\\");
}

/**
 * Keys from the list in a column. In an UPDATE, a Citus cluster refuses the cast from a text to an array, which depends on settings. It
 * takes the casts of the single texts.
 */
export const keysFromList = (column: string) => `string_to_array(${column}, ',', 'null')::bytea[]`;

/** Sets the keys of resources, except of those that have them. */
export function updateKeys(
  { number, places }: NumberedCollection,
  resources: readonly ReadResource[],
): Statement {
  return {
    sql: `update ${resourcesTable(number)} as resource set keys = ${keysFromList("next.keys")}
      from unnest($1::text[], $2::text[]) as next (key, keys)
      where resource.key = next.key and resource.keys is distinct from ${keysFromList("next.keys")}`,
    values: [
      texts(resources.map(({ key }) => String(key))),
      texts(resources.map(({ attributes }) => listOf(keysIn(places, attributes)))),
    ],
  };
}
