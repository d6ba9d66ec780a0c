/** The indexes that a collection's declaration asks for, and what makes and drops them. */
import { createHash } from "node:crypto";
import type { CollectionRecord } from "../../record.ts";
import { sortExpressions, uniqueIndexSql } from "../list/expressions.ts";
import { resourcesTable } from "./tables.ts";

/** The statements that make a collection have the indexes of one declaration instead of those of another. */
export function indexStatements(
  number: number,
  before: Pick<CollectionRecord, "indexes" | "unique"> | undefined,
  after: Pick<CollectionRecord, "indexes" | "unique">,
): readonly string[] {
  const existing = definitions(number, before);
  const wanted = definitions(number, after);
  const dropped = [...existing.keys()].filter((name) => !wanted.has(name));
  const made = [...wanted].filter(([name]) => !existing.has(name));
  return [
    ...dropped.map((name) => `drop index if exists ${name}`),
    ...made.map(([name, on]) => `create index if not exists ${name} on ${on}`),
  ];
}

/** By name, what each index is on. Names tell of their index by a hash, since the database cuts long ones off. */
function definitions(
  number: number,
  declared: Pick<CollectionRecord, "indexes" | "unique"> | undefined,
): ReadonlyMap<string, string> {
  const { indexes = [], unique = [] } = declared ?? {};
  const table = resourcesTable(number);
  const columns = [
    ...indexes.map((index) => {
      const keys = index.flatMap(({ path, descending }) => {
        const { rank, number: numeric, text } = sortExpressions(path);
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
