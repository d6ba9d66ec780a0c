/** Lists that many ask for at the same time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { Lists } from "../../src/store/postgres/list/lists.ts";
import { Catalogue, catalogueSql, toCollection } from "../../src/store/postgres/tables/catalogue.ts";
import { declaration } from "../store/contract/fixture.ts";
import { openPostgresFixture } from "../store/postgres-fixture.ts";
import { until } from "../until.ts";

test("equal lists that wait together are read once, others each by itself, and later ones anew", async (t) => {
  const { store, url, cleanup } = await openPostgresFixture();
  const quick = new Connections({ url, max: 4, connectTimeoutMs: 3_000, onIdleError: () => {} });
  t.after(async () => {
    await quick.close();
    await cleanup();
  });
  await store.migrate([declaration("topics")]);
  const create = (id: string) =>
    store.commit({
      changes: [{ key: { collection: "topics", id }, expect: "absent", next: JSON.stringify({ id }) }],
      at: Date.now(),
    });
  await create("a");
  const topics = new Catalogue((await quick.run({ sql: catalogueSql })).rows.map(toCollection)).byName.get(
    "topics",
  );
  assert.ok(topics);
  let statements = 0;
  /** A slow network: responses arrive only after this. */
  let arrival: Promise<void> | undefined;
  const run = quick.run.bind(quick);
  quick.run = async (statement) => {
    const result = await run(statement);
    statements++;
    await arrival;
    return result;
  };
  const lists = new Lists({ quick, slow: quick, maxMs: 1_000 });
  const ids = async (limit: number) => {
    const read = await lists.page(topics, { limit }, undefined);
    return read === "redeclared" ? read : read.page.items.map(({ id }) => id);
  };
  const all = await Promise.all([...Array.from({ length: 50 }, () => ids(10)), ids(20)]);
  assert.deepEqual(all, Array(51).fill(["a"]));
  assert.equal(statements, 2);
  const { promise, resolve: arrive } = Promise.withResolvers<void>();
  arrival = promise;
  const underWay = ids(10);
  await until("the database has run the first list", () => statements === 3);
  await create("b");
  const later = ids(10);
  arrive();
  assert.deepEqual(await later, ["a", "b"], "what was acknowledged before is seen");
  await underWay;
});
