/** The indexes of a collection, as its declaration requires them. */
import { createHash } from "node:crypto";
import type { CollectionRecord } from "../../port/record.ts";
import { sortExpressions, uniqueIndexSql } from "../list/expressions.ts";
import { resourcesTable } from "./tables.ts";

/** The statements that replace the indexes of one declaration with those of another. */
export function indexStatements(
  number: number,
  before: Pick<CollectionRecord, "indexes" | "unique"> | undefined,
  after: Pick<CollectionRecord, "indexes" | "unique">,
): readonly string[] {
  const existing = definitions(number, before);
  const wanted = definitions(number, after);
  const dropped = [...existing.keys()].filter((name) => !wanted.has(name));
  const created = [...wanted].filter(([name]) => !existing.has(name));
  return [
    ...dropped.map((name) => `drop index if exists ${name}`),
    ...created.map(([name, on]) => `create index if not exists ${name} on ${on}`),
  ];
}

/**
 * The definition of each index, by name. A name contains a hash of the definition, because the database cuts off long
 * names.
 */
function definitions(
  number: number,
  declared: Pick<CollectionRecord, "indexes" | "unique"> | undefined,
): ReadonlyMap<string, string> {
  const { indexes = [], unique = [] } = declared ?? {};
  const table = resourcesTable(number);
  const columns = [
    ...indexes.map((index) => {
      const keys = index.flatMap(({ descending, ...key }) => {
        const { rank, number: numeric, text } = sortExpressions(key);
        return [rank, numeric, text].map((sql) => `(${sql})${descending ? " desc" : ""}`);
      });
      return [...keys, "key"].join(", ");
    }),
    ...unique.map((each) => `(${uniqueIndexSql(each)})`),
  ];
  return new Map(columns.map((each) => [`${table}_by_${hash(each)}`, `${table} (${each})`]));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
