/** Related resources in the store on SQLite: the contract, and that ids, references and declared indexes are used. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { readIndexes } from "../../src/collection/indexes.ts";
import type { Reference } from "../../src/collection/references.ts";
import type { Filter, RelatedCondition, RelationPath, StoreFilter } from "../../src/query/filter.ts";
import { selectHasFewReferring, selectPage, selectReferring } from "../../src/store/sqlite/list/select.ts";
import { readCatalogue } from "../../src/store/sqlite/sqlite-dialect.ts";
import { declaration } from "./contract/fixture.ts";
import { relatedContract } from "./contract/related.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

describe("SQLite keeps the contract of related resources", { concurrency: 2 }, () =>
  relatedContract(openSqliteFixture),
);

const references: Reference[] = [{ path: ["authorId"], collection: "users", onDelete: "restrict" }];
const is = (name: string, value: string): Filter => ({ kind: "in", path: [name], values: [value] });
const author: RelationPath = { kind: "reference", collection: "users", path: ["authorId"] };
const articles: RelationPath = { kind: "inverse", collection: "articles", path: ["authorId"] };

describe("the plan of a statement about related resources", () => {
  let fixture: Awaited<ReturnType<typeof openSqliteFixture>>;
  let database: DatabaseSync;
  before(async () => {
    fixture = await openSqliteFixture();
    const { store } = fixture;
    await store.migrate([
      declaration("users", { indexes: readIndexes(["name"], "indexes") }),
      declaration("articles", { references, indexes: readIndexes([["authorId", "-n"], "title"], "indexes") }),
    ]);
    for (const [name, count] of [["users", 50] as const, ["articles", 2_000] as const]) {
      const load = await store.load(name);
      const all = Array.from({ length: count }, (_, n) => ({
        id: `id-${n}`,
        name: `name ${n % 7}`,
        title: `title ${n % 9}`,
        n,
        ...(name === "articles" && { authorId: `id-${n % 50}` }),
      }));
      await load.add(all.map((each) => ({ id: each.id, text: JSON.stringify(each) })));
      await load.finish();
    }
    database = new DatabaseSync(fixture.path, { readOnly: true });
  });
  after(async () => {
    database.close();
    await fixture.cleanup();
  });

  const catalogue = () => readCatalogue(database);
  const known = (name: string) => {
    const found = catalogue().get(name);
    assert.ok(found !== undefined);
    return found;
  };
  const planOf = (sql: string, values: readonly unknown[]) =>
    database
      .prepare(`explain query plan ${sql}`)
      .all(...(values as string[]))
      .map(({ detail }) => String(detail));
  const pagePlan = (collection: string, relation: RelationPath, filter: StoreFilter) => {
    const related = Object.fromEntries(catalogue());
    const query = { limit: 20, filter: { kind: "related", relation, filter } as const, related };
    const { sql, values } = selectPage(known(collection), query, { isInterruptible: false });
    return planOf(sql, values);
  };
  const sortPlan = (through: RelatedCondition) => {
    const related = Object.fromEntries(catalogue());
    const query = { limit: 20, sort: [{ path: ["name"] as const, descending: false, through }], related };
    const { sql, values } = selectPage(known("articles"), query, { isInterruptible: true });
    return planOf(sql.replaceAll("holdfast_interrupt()", "1"), values);
  };
  const groupsPlan = (...sort: string[]) => {
    const reference = { path: ["authorId"] as const, type: "string" as const };
    const query = { reference, ids: ["id-1", "id-2"], limit: 5, sort: readIndexes([sort], "sort")[0] ?? [] };
    const { sql, values } = selectReferring(known("articles"), query, { isInterruptible: false });
    return planOf(sql, values);
  };

  /** Each table is searched, never read as a whole, except the one that the list itself walks along. */
  const scans = (plan: readonly string[]) =>
    plan.filter((step) => /^SCAN/.test(step) && !/parent|CONSTANT|\(subquery/.test(step));

  /** The places of the ids are always sorted. */
  const sorts = (plan: readonly string[]) => plan.filter((step) => /USE TEMP B-TREE/.test(step)).length;

  test("an indexed attribute of the referenced resources leads to the list", () => {
    const plan = pagePlan("articles", author, is("name", "name 3"));
    assert.ok(
      plan.some((step) => /SEARCH related_entry USING PRIMARY KEY/.test(step)),
      plan.join("\n"),
    );
    assert.ok(
      plan.some((step) => /SEARCH link USING PRIMARY KEY/.test(step)),
      plan.join("\n"),
    );
    assert.ok(
      plan.some((step) => /SEARCH resource USING INTEGER PRIMARY KEY/.test(step)),
      plan.join("\n"),
    );
    assert.deepEqual(scans(plan), []);
  });

  test("an indexed attribute of the referring resources leads to the list", () => {
    const plan = pagePlan("users", articles, is("title", "title 3"));
    assert.ok(
      plan.some((step) => /SEARCH related_entry USING PRIMARY KEY/.test(step)),
      plan.join("\n"),
    );
    assert.deepEqual(scans(plan), []);
  });

  test("another attribute is looked up for each resource of the list, by its references", () => {
    const forward = pagePlan("articles", author, is("n", "3"));
    assert.ok(
      forward.some((step) => /SEARCH link USING .*_by_key/.test(step)),
      forward.join("\n"),
    );
    assert.ok(
      forward.some((step) => /SEARCH related USING INDEX \S+ \(id=\?\)/.test(step)),
      forward.join("\n"),
    );
    const any = pagePlan("users", articles, { kind: "and", filters: [] });
    assert.ok(
      any.some((step) => /SEARCH link USING PRIMARY KEY/.test(step)),
      any.join("\n"),
    );
    assert.equal(scans(any).length, 1, any.join("\n"));
  });

  test("an indexed attribute leads to the list through two relations", () => {
    const plan = pagePlan("articles", author, {
      kind: "related",
      relation: articles,
      filter: is("title", "title 3"),
    });
    assert.ok(
      plan.some((step) => /SEARCH inner_related_entry USING PRIMARY KEY/.test(step)),
      plan.join("\n"),
    );
    assert.deepEqual(scans(plan), []);
  });

  test("a sort looks up the related resource of each resource of the list once", () => {
    const plan = sortPlan({ kind: "related", relation: author, filter: is("name", "name 3") });
    assert.equal(plan.filter((step) => /SEARCH related USING INDEX/.test(step)).length, 1, plan.join("\n"));
    assert.equal(scans(plan).filter((step) => !/SCAN one/.test(step)).length, 2, plan.join("\n"));
    assert.equal(sorts(plan), 1, plan.join("\n"));
  });

  test("groups in the order of an index need no sort", () => {
    const plan = groupsPlan("-n");
    assert.ok(
      plan.some((step) => /SEARCH resource_entry USING PRIMARY KEY/.test(step)),
      plan.join("\n"),
    );
    assert.equal(sorts(plan), 1, plan.join("\n"));
    assert.equal(sorts(groupsPlan("title")), 2);
  });

  test("other groups are found by the table of references", () => {
    const plan = groupsPlan("title");
    assert.ok(
      plan.some((step) => /SEARCH link USING PRIMARY KEY/.test(step)),
      plan.join("\n"),
    );
    assert.deepEqual(scans(plan), []);
    const reference = { path: ["authorId"] as const, type: "string" as const };
    const { sql, values } = selectHasFewReferring(
      known("articles"),
      { reference, ids: ["id-1"], limit: 5 },
      10,
    );
    const few = planOf(sql, values);
    assert.ok(
      few.some((step) => /SEARCH link USING PRIMARY KEY/.test(step)),
      few.join("\n"),
    );
  });
});
