/** A collection with indexes. */
import { readIndexes } from "../../src/collection/indexes.ts";
import type { Scalar } from "../../src/query/conditions.ts";
import type { Filter } from "../../src/query/filter.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import { declaration } from "./contract/fixture.ts";

export function declare(...indexes: (string | string[])[]): CollectionRecord {
  return declaration("articles", { indexes: readIndexes(indexes, "indexes") });
}

export const dated = { path: ["at"], descending: false, as: "date" } as const;

const declared = declare("name", "-rating", ["status", "-publishedAt"], ["status", "kind", "author.name"]);

export const all = { ...declared, indexes: [...declared.indexes, [dated]] };

export const sortBy = (...keys: string[]) => readIndexes([keys], "sort")[0] ?? [];

export const is = (path: string, ...values: Scalar[]): Filter => ({ kind: "in", path: [path], values });

export async function fill(store: Store, record: CollectionRecord, n: number): Promise<void> {
  await store.migrate([record]);
  const load = await store.load(record);
  const arrivals = Array.from({ length: n }, (_, i) => {
    const id = `id-${String(i).padStart(6, "0")}`;
    const attributes = {
      name: `name ${i % 97}`,
      rating: i % 50,
      status: i % 3 === 0 ? "draft" : "published",
      kind: `kind ${i % 5}`,
      publishedAt: `2026-01-${String((i % 28) + 1).padStart(2, "0")}`,
      author: { name: `author ${i % 11}` },
      at: i % 2 === 0 ? `2026-01-${String((i % 28) + 1).padStart(2, "0")}` : 1_767_225_600_000 + i,
    };
    return { id, text: JSON.stringify({ id, ...attributes }) };
  });
  await load.add(arrivals);
  await load.finish();
}
