/** Figures of the store on PostgreSQL: the contract, and that groups are hashed and not sorted. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readIndexes } from "../../src/collection/indexes.ts";
import { selectFigures } from "../../src/store/postgres/list/postgres-figures.ts";
import type { NumberedCollection } from "../../src/store/postgres/tables/declared-catalogue.ts";
import { query } from "../postgres/databases.ts";
import { figuresContract } from "./contract/figures.ts";
import { declaration } from "./contract/fixture.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";

describe("PostgreSQL keeps the contract of figures", { concurrency: 2 }, () =>
  figuresContract(openPostgresFixture),
);

test("groups are hashed, and only the groups are sorted", async () => {
  const { store, url, cleanup } = await openPostgresFixture();
  try {
    await store.migrate([declaration("orders", { indexes: readIndexes(["status"], "indexes") })]);
    const load = await store.load("orders");
    const texts = Array.from({ length: 3_000 }, (_, n) => ({
      id: `id${n}`,
      text: JSON.stringify({ id: `id${n}`, status: `status ${n % 7}`, total: n }),
    }));
    await load.add(texts);
    await load.finish();
    const collection = store.collections().get("orders") as NumberedCollection;
    const { sql } = selectFigures(collection, {
      figures: [
        { kind: "count", name: "count" },
        { kind: "sum", name: "sum(total)", path: ["total"] },
      ],
      group: [{ name: "status", path: ["status"], unit: undefined }],
      sort: [],
      limit: 10,
      offset: 0,
    });
    const { rows } = await query(url, `explain ${sql}`);
    const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
    assert.match(plan, /HashAggregate/);
    assert.equal(plan.slice(plan.indexOf("HashAggregate")).includes("Sort"), false, plan);
  } finally {
    await cleanup();
  }
});
