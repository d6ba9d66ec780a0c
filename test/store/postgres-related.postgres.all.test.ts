/** Related resources in the store on PostgreSQL: the contract, and that ids, references and declared indexes are used. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { readIndexes } from "../../src/collection/indexes.ts";
import type { Reference } from "../../src/collection/references.ts";
import type { Filter, RelationPath } from "../../src/query/filter.ts";
import type { Statement } from "../../src/store/postgres/connection/connections.ts";
import { selectPage, selectReferring } from "../../src/store/postgres/list/page-statements.ts";
import type { NumberedCollection } from "../../src/store/postgres/tables/declared-catalogue.ts";
import { query } from "../postgres/databases.ts";
import { declaration } from "./contract/fixture.ts";
import { relatedContract } from "./contract/related.ts";
import { openPostgresFixture } from "./postgres-fixture.ts";

describe("PostgreSQL keeps the contract of related resources", { concurrency: 2 }, () =>
  relatedContract(openPostgresFixture),
);

const references: Reference[] = [{ path: ["authorId"], collection: "users", onDelete: "restrict" }];
const is = (name: string, ...values: string[]): Filter => ({ kind: "in", path: [name], values });
const author: RelationPath = { kind: "reference", collection: "users", path: ["authorId"] };
const articles: RelationPath = { kind: "inverse", collection: "articles", path: ["authorId"] };

describe("the plan of a statement about related resources", () => {
  let fixture: Awaited<ReturnType<typeof openPostgresFixture>>;
  before(async () => {
    fixture = await openPostgresFixture();
    const { store, url } = fixture;
    await store.migrate([
      declaration("users", { indexes: readIndexes(["name"], "indexes") }),
      declaration("articles", { references, indexes: readIndexes([["authorId", "-n"], "title"], "indexes") }),
    ]);
    for (const [name, count] of [["users", 5_000] as const, ["articles", 20_000] as const]) {
      const load = await store.load(name);
      for (let first = 0; first < count; first += 1_000) {
        const some = Array.from({ length: 1_000 }, (_, n) => ({
          id: `id-${first + n}`,
          name: `name ${first + n}`,
          title: `title ${first + n}`,
          n,
          ...(name === "articles" && { authorId: `id-${(first + n) % 5_000}` }),
        }));
        await load.add(some.map((each) => ({ id: each.id, text: JSON.stringify(each) })));
      }
      await load.finish();
    }
    await query(url, "analyze");
  });
  after(() => fixture.cleanup());

  const known = (name: string) => fixture.store.collections().get(name) as NumberedCollection;
  const planOf = async ({ sql, values = [] }: Statement) => {
    const client = new pg.Client({ connectionString: fixture.url });
    await client.connect();
    try {
      const { rows } = await client.query(`explain ${sql}`, [...values]);
      return rows.map((row) => String(row["QUERY PLAN"])).join("\n");
    } finally {
      await client.end();
    }
  };
  const pagePlan = (collection: string, relation: RelationPath, filter: Filter) => {
    const related = Object.fromEntries(fixture.store.collections()) as Record<string, NumberedCollection>;
    const asked = { limit: 20, filter: { kind: "related", relation, filter } as const, related };
    return planOf(selectPage(known(collection), asked));
  };
  const groupsPlan = (...sort: string[]) =>
    planOf(
      selectReferring(known("articles"), {
        reference: { path: ["authorId"], type: "string" },
        ids: ["id-1", "id-2"],
        limit: 5,
        sort: readIndexes([sort], "sort")[0] ?? [],
      }),
    );

  const resources = (name: string) => `holdfast_resources_${known(name).number}`;
  const declaredIndex = (name: string) => new RegExp(`Index Scan using ${resources(name)}_by_key_[0-9]+ `);
  const byId = (name: string) => new RegExp(`Index Scan (?:using|on) ${resources(name)}_pkey `);
  const byReference = /Index (?:Only )?Scan (?:using|on) holdfast_refers_\d+_(?:pkey|by_key) /;

  /** Checks that the plan uses these indexes, and reads no table of resources or references as a whole. */
  function checkPlan(plan: string, ...used: readonly RegExp[]): void {
    for (const each of used) assert.match(plan, each);
    assert.doesNotMatch(plan, /Seq Scan on holdfast_(?:resources|refers)_/);
  }

  test("referenced resources are found by their ids", async () => {
    const ids = Array.from({ length: 100 }, (_, n) => `id-${n * 7}`);
    const plan = await planOf(selectPage(known("users"), { limit: 100, filter: is("id", ...ids) }));
    checkPlan(plan, byId("users"));
  });

  test("an indexed attribute of the referenced resources leads to the list", async () => {
    const plan = await pagePlan("articles", author, is("name", "name 3"));
    checkPlan(plan, declaredIndex("users"), byReference, byId("articles"));
  });

  test("an indexed attribute of the referring resources leads to the list", async () => {
    const plan = await pagePlan("users", articles, is("title", "title 3"));
    checkPlan(plan, declaredIndex("articles"), byReference, byId("users"));
  });

  test("whether any resource refers is looked up in the table of references", async () => {
    checkPlan(await pagePlan("users", articles, { kind: "and", filters: [] }), byReference);
  });

  test("groups in the order of an index are read from the index", async () => {
    const plan = await groupsPlan("-n");
    checkPlan(plan, declaredIndex("articles"));
    assert.doesNotMatch(plan, byReference);
  });

  test("other groups are found by the table of references", async () => {
    checkPlan(await groupsPlan("title"), byReference, byId("articles"));
  });
});
