/** Figures of the store on SQLite: the contract, and that an index is read instead of the resources. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { readIndexes } from "../../src/collection/indexes.ts";
import type { Figure, GroupKey } from "../../src/query/figures.ts";
import type { Filter } from "../../src/query/filter.ts";
import type { FiguresOf } from "../../src/store/core/figures.ts";
import { selectFigures } from "../../src/store/sqlite/list/sqlite-figures.ts";
import { addListFunctions, interruptFunction } from "../../src/store/sqlite/list/sqlite-lists.ts";
import { readCatalogue } from "../../src/store/sqlite/sqlite-dialect.ts";
import { figuresContract } from "./contract/figures.ts";
import { declaration } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

describe("SQLite keeps the contract of figures", { concurrency: 2 }, () =>
  figuresContract(openSqliteFixture),
);

const count: Figure = { kind: "count", name: "count" };
const sum: Figure = { kind: "sum", name: "sum(total)", path: ["total"] };
const by = (name: string, unit?: "month"): GroupKey => ({ name, path: [name], unit });
const is = (name: string, value: string): Filter => ({ kind: "in", path: [name], values: [value] });
const resources = 3_000;

describe("figures with an index on all their attributes", () => {
  let fixture: Awaited<ReturnType<typeof openSqliteFixture>>;
  let database: DatabaseSync;
  before(async () => {
    fixture = await openSqliteFixture();
    const indexes = readIndexes(["status", ["status", "-total", "placedAt"], ["kind", "status"]], "indexes");
    await fixture.store.migrate([declaration("orders", { indexes })]);
    const load = await fixture.store.load("orders");
    await load.add(
      Array.from({ length: resources }, (_, n) => {
        const attributes = {
          status: `status ${n % 7}`,
          total: n,
          placedAt: `2026-0${(n % 9) + 1}-01`,
          kind: `kind ${n % 3}`,
        };
        return { id: `id${n}`, text: JSON.stringify({ id: `id${n}`, ...attributes }) };
      }),
    );
    await load.finish();
    database = new DatabaseSync(fixture.path, { readOnly: true });
    database.function(interruptFunction, () => 1);
    addListFunctions(database);
  });
  after(async () => {
    database.close();
    await fixture.cleanup();
  });

  const statementOf = (query: Partial<FiguresOf>) => {
    const collection = readCatalogue(database).get("orders");
    assert.ok(collection !== undefined);
    const plain = { figures: [count], group: [], sort: [], limit: 10, offset: 0 };
    return selectFigures(collection, { ...plain, ...query });
  };

  const covered: [what: string, query: Partial<FiguresOf>][] = [
    ["a group by an indexed attribute", { group: [by("status")] }],
    ["a sum by an indexed attribute", { group: [by("status")], figures: [count, sum] }],
    ["a sum by a unit of dates", { group: [by("placedAt", "month")], figures: [sum] }],
    ["a group of the resources with an equal value", { group: [by("status")], filter: is("kind", "kind 1") }],
    [
      "a group in a range",
      { group: [by("status")], filter: { kind: "gte", path: ["kind"], values: ["kind 1"] } },
    ],
  ];
  for (const [what, query] of covered)
    test(`read only the index: ${what}`, () => {
      const { sql, values } = statementOf(query);
      const plan = database.prepare(`explain query plan ${sql}`).all(...values);
      assert.ok(
        plan.some(({ detail }) => /^SEARCH resource_entry USING PRIMARY KEY/.test(String(detail))),
        JSON.stringify(plan),
      );
      assert.equal(textsRead(sql, values), 0);
    });

  test("count only what the whole filter matches, if an index has some of its attributes", () => {
    const total: Filter = { kind: "in", path: ["total"], values: [8] };
    const both: Filter = { kind: "and", filters: [is("status", "status 1"), total] };
    const { sql, values } = statementOf({ filter: both });
    const [row] = database.prepare(sql).all(...values) as [Record<string, unknown>];
    const all = database.prepare("select doc from resources_1").all();
    const orders = all.map(({ doc }) => JSON.parse(String(doc)) as { status: string; total: number });
    const expected = orders.filter((each) => each.status === "status 1" && each.total === 8).length;
    assert.equal(Object.values(row)[0], expected);
    assert.notEqual(expected, orders.filter(({ status }) => status === "status 1").length);
  });

  test("read the resources without such an index", () => {
    const { sql, values } = statementOf({ group: [by("kind")], figures: [sum] });
    assert.equal(textsRead(sql, values), resources);
  });

  /** How many texts of resources the groups need: runs the statement with a function around each text of a group key. */
  function textsRead(sql: string, values: readonly unknown[]): number {
    let read = 0;
    database.function("counted", (text) => {
      read++;
      return text as string;
    });
    database.prepare(sql.replaceAll("(doc -> ", "(counted(doc) -> ")).all(...(values as string[]));
    return read;
  }
});
