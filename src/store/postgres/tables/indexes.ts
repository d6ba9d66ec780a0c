/**
 * The indexes of a collection, as its declaration requires them. A resource has a column with its keys: bytes with the order of
 * lists (`store/core/order-keys.ts`). The key of an index is at the place of its slot, so a new index adds no column.
 */
import { createHash } from "node:crypto";
import type { Unique } from "../../../collection/unique.ts";
import { keyOf } from "../../core/order-keys.ts";
import type { Slot } from "../../core/ranges.ts";
import { uniqueIndexSql } from "../list/expressions.ts";
import { resourcesTable } from "./tables.ts";

/** What a declaration says about indexes. */
interface Declared {
  slots: readonly Slot[];
  unique: readonly Unique[];
}

/** The statements that replace the indexes of one declaration with those of another. */
export function indexStatements(
  number: number,
  before: Declared | undefined,
  after: Declared,
): { dropped: readonly string[]; created: readonly string[] } {
  const existing = definitions(number, before);
  const wanted = definitions(number, after);
  return {
    dropped: [...existing.keys()]
      .filter((name) => !wanted.has(name))
      .map((name) => `drop index if exists ${name}`),
    created: [...wanted]
      .filter(([name]) => !existing.has(name))
      .map(([name, on]) => `create index if not exists ${name} on ${on}`),
  };
}

/**
 * The definition of each index, by name. A name contains a hash of the definition, because the database cuts off long
 * names.
 */
function definitions(number: number, declared: Declared | undefined): ReadonlyMap<string, string> {
  const { slots = [], unique = [] } = declared ?? {};
  const table = resourcesTable(number);
  const expressions = [...slots.map(({ slot }) => keySql(slot)), ...unique.map(uniqueIndexSql)];
  return new Map(expressions.map((sql) => [`${table}_by_${hash(sql)}`, `${table} ((${sql}))`]));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The key of a resource in an index. */
export function keySql(slot: number): string {
  return `keys[${slot}]`;
}

/** The column `keys` of a resource with this text, as the database reads an array. Null without indexes. */
export function indexKeysOf(slots: readonly Slot[], text: string): string | null {
  if (slots.length === 0) return null;
  const resource = JSON.parse(text);
  const keys: string[] = Array(Math.max(...slots.map(({ slot }) => slot))).fill("null");
  for (const { slot, index } of slots) keys[slot - 1] = `"\\\\x${keyOf(resource, index).toString("hex")}"`;
  return `{${keys.join(",")}}`;
}
